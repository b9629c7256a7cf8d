import ArgumentParser
import Foundation
import StorageKit

/// `storagekit adopt`: turns an existing database into a store.
struct AdoptCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "adopt", abstract: "Start recording history for an existing SQLite database.",
        discussion: """
            Creates a new store with the same tables, rows, indexes, triggers and views, and records each row as an \
            event. The database itself isn't changed. With --in-place the file itself becomes the store, in one \
            transaction, after a copy of it is saved. Each table gets a column _position. Tables that can't be \
            recorded are reported with the reason and left without history; the exit status is 8 then. On a store, \
            --in-place starts recording the tables that have no history yet.

              storagekit adopt shop.db -s shop.sqlite --dry-run
              storagekit adopt shop.db -s shop.sqlite
              storagekit adopt shop.db customers orders -s shop.sqlite
              storagekit adopt shop.db --in-place --yes
            """)

    @Argument(help: "The database's file.")
    var database: String

    @Argument(help: "Tables to record. Default: all that can be.")
    var tables: [String] = []

    @OptionGroup var store: StoreOption

    @Flag(name: .long, help: "Convert the file itself into a store.")
    var inPlace = false

    @Flag(name: .long, help: "With --in-place: don't save a copy of the original file.")
    var noBackup = false

    @Flag(name: .long, help: "Overwrite the new store's file if it exists and isn't in use.")
    var force = false

    @OptionGroup var change: ChangeOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        if inPlace, store.store != nil {
            throw ValidationError("--in-place converts the database itself: omit -s.")
        }
        if !inPlace, !change.dryRun, (try? store.path()) == nil {
            let name = ((database as NSString).deletingPathExtension as NSString).lastPathComponent
            let isTaken = (database as NSString).lastPathComponent == "\(name).sqlite"
            throw ValidationError(
                "Name the new store, or convert the file itself with --in-place.\n"
                    + "Type: storagekit adopt \(ShellWords.line([database, "-s", "\(name)\(isTaken ? "-store" : "").sqlite"]))"
            )
        }
        if noBackup, !inPlace { throw ValidationError("--no-backup requires --in-place.") }
    }

    func run() async throws { try await CommandError.naming(file: database) { try await adopt() } }

    private func adopt() async throws {
        try format.require([.human, .json, .jsonl], of: "adopt")
        let bars = StageProgress { ["copy", "replace"].contains($0) ? "pages" : $0 == "verify" ? "events" : "rows" }
        defer { bars.finish() }
        let adoption = DatabaseAdoption(database, tables: tables, metadata: change.metadata) {
            bars.update($0, done: $1, of: $2)
        }
        if inPlace, try adoption.isStore() { return try await runInStore(adoption) }
        if change.dryRun {
            let path = inPlace ? database : try? store.path()
            if let path, !inPlace { try FilePlacement.check(path, isNot: database) }
            let plan = try adoption.plan()
            bars.finish()
            return try finish(plan, store: path, backup: nil)
        }
        guard inPlace else {
            let path = try store.path()
            try change.confirmReplacing(path, isForced: force)
            let plan = try await UnfinishedFiles.removedBySignals {
                try await adoption.run(to: path, replacing: force)
            }
            bars.finish()
            return try finish(plan, store: path, backup: nil)
        }
        let backup = noBackup ? nil : database + ".before-adopt"
        if let backup { try adoption.checkBackup(backup) }
        let question = backup.map { ", and keep \($0)" } ?? ", without keeping a copy"
        try change.confirm("Turn \(database) into a store\(question). Continue?")
        let plan = try await UnfinishedFiles.removedBySignals { try await adoption.runInPlace(backup: backup) }
        bars.finish()
        try finish(plan, store: database, backup: backup)
    }

    private func runInStore(_ adoption: DatabaseAdoption) async throws {
        if !change.dryRun { try change.confirm("Start recording tables in \(database). Continue?") }
        let (plan, _) = try await adoption.runInStore(isDryRun: change.dryRun)
        try finish(plan, store: database, backup: nil)
    }

    private func finish(_ plan: AdoptionPlan, store: String?, backup: String?) throws {
        let answer = AdoptionAnswer(
            plan: plan, database: database, store: store, backup: backup, isDryRun: change.dryRun)
        let isStored = !change.dryRun && !plan.adopted.isEmpty
        let output = ResultOutput(format)
        output.needsReader = false
        try OutputFailure.reporting(
            isStored ? "The tables were adopted" : nil,
            next: "Type: storagekit schema -s \((store ?? database).quotedAsShellWord)"
        ) { try answer.write(to: output) }
        if plan.left.contains(where: { $0.obstacle?.isExpected == false }) { throw ExitStatus.partial }
    }
}

/// What was adopted, or would be, as text and as JSON.
private struct AdoptionAnswer {
    let plan: AdoptionPlan
    let database: String
    let store: String?
    let backup: String?
    let isDryRun: Bool

    func write(to output: ResultOutput) throws {
        if output.format == .human {
            try writeText(to: output)
        } else {
            try output.document(
                AdoptRecord(plan: plan, database: database, store: store, backup: backup, isDryRun: isDryRun))
        }
        try output.flush()
    }

    private func writeText(to output: ResultOutput) throws {
        let grouped = NumberText.grouped
        var table = TableLayout([.init("table"), .init("rows", .right), .init("key")], width: output.width)
        for adopted in plan.adopted {
            table.add([
                TableCell(adopted.name), TableCell(grouped(Int(adopted.rows))),
                TableCell(adopted.key.joined(separator: ", "), .dim),
            ])
        }
        if !plan.adopted.isEmpty { try output.lines(table.lines(style: output.style)) }
        for left in plan.left {
            guard let obstacle = left.obstacle else { continue }
            var line = StyledLine("! \(TargetArgument(table: left.name))", obstacle.isExpected ? .dim : .changed)
            line.add(" has no history: \(obstacle.reason).")
            try output.lines([line.rendered(output.style, width: nil)])
            if !obstacle.isExpected {
                try output.lines([output.style.dim("  next: \(TerminalText.visible(obstacle.remedy))")])
            }
        }
        for note in plan.notes { try output.lines([output.style.dim(TerminalText.visible(note))]) }
        let count = plan.adopted.count
        let tables = NumberText.count(count, "table")
        let rows = NumberText.count(plan.rows, "row")
        let location = store.map { " in \($0)" } ?? ""
        guard !isDryRun else {
            return try output.line("Would be adopted: \(tables) with \(rows)\(location).")
        }
        try output.line("Adopted \(tables) with \(rows)\(location).", .added)
        if let backup { try output.line("The original file: \(backup)", .dim) }
    }
}
