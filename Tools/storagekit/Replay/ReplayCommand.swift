import ArgumentParser
import Foundation
import GRDB
import StorageCore
import StorageLog
import StorageProjections

/// `storagekit replay`: history again, step by step.
struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay", abstract: "Step through history, forward and back, and stop where something happens.",
        discussion: """
            Prints what each commit changes, oldest first, and stops at breakpoints, with status 1 where one stopped it. A \
            RANGE is A..B, a TARGET a table, a row or a cell. With --step it takes commands from standard input, a line \
            each (? lists them): n and N go on by an event or a commit, p and P back, s runs a query at that point. The \
            store is opened for reading and never changed.

            A condition of --break is TABLE/ID#COLUMN = VALUE (or !=, or nothing for any change), SQL over the row as \
            old_COLUMN and new_COLUMN, or error.

              storagekit replay -s app.sqlite -2h.. orders
              storagekit replay -s app.sqlite -q --watch 'orders/42#status'
              storagekit replay -s app.sqlite --by event --break 'new_total > 1000 AND old_total <= 1000'
              storagekit replay -s app.sqlite --step --to t:77
              storagekit replay -s app.sqlite --projection totals.sql --break error

            --projection FILE folds a projection written in SQL in a temporary database and tells what becomes of its rows; \
            storagekit help compare-replay shows how one is written.
            """)

    @Argument(help: ArgumentHelp("A range, then tables, rows or cells.", valueName: "range-or-target"))
    var words: [String] = []

    @OptionGroup var store: StoreOption

    @Option(name: .long, help: "What to go on by: event or commit. Breakpoints stop after it.")
    var by: ReplayUnit = .commit

    @Option(
        name: .long, parsing: .unconditional, help: "Where to stop: this point. With --step, where to begin stepping.",
        transform: { try PointArgument($0, now: SystemTime.now) })
    var to: PointArgument?

    @Option(
        name: .customLong("break"), parsing: .unconditionalSingleValue,
        help: "Stop where this is true; may be repeated.")
    var breaks: [String] = []

    @Option(name: .long, help: "Tell each change of this row or cell; may be repeated.")
    var watch: [String] = []

    @Option(
        name: .long,
        help: "Fold a projection on the way: a file with its rules in SQL, an entity, or full-text/ENTITY.")
    var projection: String?

    @Flag(name: .long, help: "Take commands from standard input.")
    var step = false

    @Flag(name: [.short, .long], help: "Only tell watches and stops.")
    var quiet = false

    @OptionGroup var format: FormatOptions

    func validate() throws {
        if breaks.contains("error"), projection == nil {
            throw ValidationError("--break error is for events that a projection can't take in: add --projection FILE.")
        }
    }

    func run() async throws {
        try format.require(step ? [.human, .jsonl] : [.human, .jsonl, .json], of: "replay")
        let command = self
        let (range, words) = try LogCommand.split(words)
        let engine = try store.openForReading()
        let stop = try await engine.read { (db: GRDB.Database) in
            guard let connection = db.sqliteConnection else { throw StorageError.closed() }
            let store = try StoreReader(connection)
            let choice = try command.projection.map { try Self.choice($0, store) }
            var targets = words
            if case .entity(let name) = choice { targets.append(TargetArgument(table: name)) }
            let filter = try store.filter(FilterOptions.parse([]), range: range, targets: targets)
            return try command.replay(store, db, filter, choice)
        }
        try await engine.close()
        if stop.isBreak { throw ExitStatus.negative }
    }

    private func replay(
        _ store: StoreReader, _ db: GRDB.Database, _ filter: ChangeFilter, _ choice: Choice?
    ) throws -> ReplayStop {
        let output = ResultOutput(format)
        let printer = ReplayPrinter(store, output, unit: by, isQuiet: quiet)
        let run = ReplayRun(store, filter, printer)
        run.breakpoints = try breaks.map { try Breakpoint($0, store) }
        run.watches = try watch.map { try RowProbe(TargetArgument($0), store) }
        if case .sql(let projection) = choice { run.folded = try FoldedProjection(projection, store) }
        let end = try to.map { try store.points.position(of: $0) }
        if let end, end < run.logRange.after {
            throw CommandError(
                .usage, "--to is @\(end), before the range begins after @\(run.logRange.after).",
                next: "Begin earlier, or go on to a later point.")
        }
        guard !step else {
            if let end { run.jump(to: min(max(end, run.logRange.after), run.logRange.through)) }
            return try ReplayPrompt(run, db, output, color: format.color, unit: by).loop()
        }
        let stop = try run.forward(by: by, through: end)
        try printer.write(stop, at: run.position)
        try output.finish()
        return stop
    }

    /// What `--projection` names.
    private enum Choice {
        /// One of the store's own: an entity's table, or the full-text index of one. It follows the entity's events.
        case entity(String)
        case sql(SQLProjection)
    }

    private static func choice(_ name: String, _ store: StoreReader) throws -> Choice {
        if FileManager.default.fileExists(atPath: name) { return .sql(try ProjectionFile.load(name)) }
        if store.catalog.entity(named: name) != nil { return .entity(name) }
        for index in try FullTextIndex.load(store.connection) {
            guard let entity = store.catalog.entity(id: index.entity) else { continue }
            if [index.name, "full-text/\(entity.name)"].contains(name) { return .entity(entity.name) }
        }
        if let known = try ProjectionTables.load(store.connection).first(where: { $0.name == name }) {
            throw CommandError(
                .inconclusive, "The rules of the projection \(known.name) are in its program, not in the store.",
                next: "Write them in SQL and name the file, or call storage.compareReplay in the program.")
        }
        return .sql(try ProjectionFile.load(name))
    }
}
