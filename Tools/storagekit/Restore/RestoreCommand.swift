import ArgumentParser
import Foundation
import StorageKit

/// `storagekit restore`: creates a store that ends at a point of a backup's history.
struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Restore a backup to a new store, up to a point.",
        discussion: """
            The new store has the backup's log up to that point, and its tables as of that point. The backup may be \
            any store and isn't changed. A point inside a commit includes the whole commit; @0 makes an empty store. To \
            revert tables in place and keep the later history, use restore-state.

            A point at which rows would refer to missing rows is refused. --dry-run doesn't check that: it only counts rows.

            A final commit records who restored it, from what, and why: storagekit log --table storage_operation -p

              storagekit restore monday.sqlite --to t:77 -o app.sqlite --dry-run
              storagekit restore monday.sqlite --to 2024-05-01T10:00:00Z -o app.sqlite
              storagekit restore monday.sqlite -o app.sqlite
            """)

    @Argument(help: "The backup: a store's file.")
    var backup: String

    @Option(
        parsing: .unconditional, help: "The point: @1234, t:77, a time, -2h. Default: the end.",
        transform: { try PointArgument($0, now: SystemTime.now) })
    var to: PointArgument = .head

    @Option(name: [.short, .customLong("output")], help: "The new store's file.")
    var output: String

    @Flag(name: .long, help: "Overwrite the file if it exists and isn't in use.")
    var force = false

    @OptionGroup var change: ChangeOptions
    @OptionGroup var format: FormatOptions

    func run() async throws { try await CommandError.naming(file: backup) { try await restore() } }

    private func restore() async throws {
        try format.require([.human, .json, .jsonl], of: "restore")
        let (position, isFixed) = try await position()
        let bars = StageProgress { $0 == "copy" ? "pages" : "events" }
        defer { bars.finish() }
        let restore = PointRestore(backup, acceptsLoss: isFixed) { bars.update($0, done: $1, of: $2) }
        let outcome: PointRestore.Outcome
        if change.dryRun {
            try FilePlacement.check(output, isNot: backup)
            try FilePlacement.check(output, replacing: force)
            outcome = try restore.plan(position)
        } else {
            try change.confirmReplacing(output, isForced: force)
            let operation = try StorageOperation(
                "restore", subject: (backup as NSString).lastPathComponent,
                outcome: RestoreOutcome(point: to, position: position))
            outcome = try await UnfinishedFiles.removedBySignals {
                try await restore.run(
                    position, to: output, replacing: force, recording: (operation, change.metadata))
            }
        }
        bars.finish()
        try OutputFailure.reporting(
            change.dryRun ? nil : "The store was restored",
            next: "Type: storagekit stats -s \(output.quotedAsShellWord)"
        ) { try report(outcome) }
    }

    private func report(_ outcome: PointRestore.Outcome) throws {
        let result = ResultOutput(format)
        if result.format == .human {
            try write(outcome, to: result)
        } else {
            try result.document(RestoreRecord(outcome: outcome, path: output, isDryRun: change.dryRun))
        }
        try result.flush()
    }

    /// Returns the position at which the new store ends, and whether the point would be the same if the log were longer: then it is
    /// known that later commits aren't restored.
    ///
    /// - Throws: `notFound` if it isn't in the backup, or is a time before its first commit.
    private func position() async throws -> (Int64, isFixed: Bool) {
        let command = self
        var source = StoreOption()
        source.store = backup
        do {
            return try await source.read { store in
                let position = try store.position(toRestore: command.to) { point in
                    ShellWords.line(["storagekit", "restore", command.backup, "--to", point, "-o", command.output])
                }
                switch command.to {
                case .head, .beforeHead: return (position, false)
                case .time: return (position, position < store.head.position)
                case .position, .before, .commit, .tag, .beforeTag: return (position, true)
                }
            }
        } catch let error as CommandError {
            // The error's commands need the backup's name, because no option of this command names the store.
            throw error.naming(store: backup)
        }
    }

    private func write(_ outcome: PointRestore.Outcome, to result: ResultOutput) throws {
        let grouped = NumberText.grouped
        var table = TableLayout([.init("table"), .init("rows", .right)], width: result.width)
        for name in outcome.tables {
            table.add([TableCell(name), TableCell(outcome.rows[name].map { grouped(Int($0)) } ?? "")])
        }
        if !outcome.tables.isEmpty { try result.lines(table.lines(style: result.style)) }
        if let loss = outcome.loss {
            try result.lines([StyledLine("! \(loss)", .changed).rendered(result.style, width: nil)])
        }
        if outcome.wasInsideCommit {
            try result.line("The point is inside t:\(outcome.head.commit), which is restored as a whole.", .dim)
        }
        for name in outcome.projections {
            try result.line("The projection \(name) is rebuilt when its program opens the store.", .dim)
        }
        let end =
            outcome.head.position > 0
            ? "@\(outcome.head.position) (t:\(outcome.head.commit), \(Timestamp.shown(outcome.head.time)))"
            : "@0, before the first event"
        try result.line(
            change.dryRun ? "Would be restored in \(output), to \(end)." : "Restored in \(output), to \(end).",
            change.dryRun ? .plain : .added)
        let (commits, events) = (grouped(Int(outcome.leftCommits)), grouped(Int(outcome.leftEvents)))
        try result.line("\(commits) later commits with \(events) events are not in it.", .dim)
        if let recorded = outcome.recorded { try result.line("Recorded as t:\(recorded).", .dim) }
    }

}
