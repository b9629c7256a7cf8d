import ArgumentParser
import Foundation
import GRDB
import StorageKit

/// `storagekit replay`: replays history step by step.
struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay", abstract: "Step through history, with breakpoints and watches.",
        discussion: """
            Prints the changes of each commit, oldest first, and stops at breakpoints with status 1. A \
            RANGE is A..B, a TARGET a table, a row or a cell. With --step it reads commands from standard input (? \
            lists them): n and N step forward by an event or a commit, p and P back, s runs a query at that point. \
            The store is opened read-only.

            A condition of --break is TABLE/ID#COLUMN = VALUE (or !=, or nothing for any change), SQL over the row as \
            old_COLUMN and new_COLUMN, or error.

              storagekit replay -s app.sqlite -2h.. orders
              storagekit replay -s app.sqlite -q --watch 'orders/42#status'
              storagekit replay -s app.sqlite --by event --break 'new_total > 1000 AND old_total <= 1000'
              storagekit replay -s app.sqlite --step --to t:77
              storagekit replay -s app.sqlite --projection totals.sql --break error

            --projection FILE applies a projection written in SQL in a temporary database and prints the changes of \
            its rows; see storagekit help compare-replay for the syntax.
            """)

    @Argument(help: ArgumentHelp("A range, then tables, rows or cells.", valueName: "range-or-target"))
    var words: [String] = []

    @OptionGroup var store: StoreOption

    @Option(name: .long, help: "The step size: event or commit.")
    var by: ReplayUnit = .commit

    @Option(
        name: .long, parsing: .unconditional, help: "Stop at this point. With --step, start stepping there.",
        transform: { try PointArgument($0, now: SystemTime.now) })
    var to: PointArgument?

    @Option(
        name: .customLong("break"), parsing: .unconditionalSingleValue,
        help: "Stop where this condition is true; may be repeated.")
    var breaks: [String] = []

    @Option(name: .long, help: "Print each change of this row or cell; may be repeated.")
    var watch: [String] = []

    @Option(
        name: .long,
        help: "Apply a projection: a file with rules in SQL, an entity, or full-text/ENTITY.")
    var projection: String?

    @Flag(name: .long, help: "Read commands from standard input.")
    var step = false

    @Flag(name: [.short, .long], help: "Print only watches and stops.")
    var quiet = false

    @OptionGroup var format: FormatOptions

    func validate() throws {
        if breaks.contains("error"), projection == nil {
            throw ValidationError("--break error requires --projection FILE.")
        }
    }

    func run() async throws {
        try format.require(step ? [.human, .jsonl] : [.human, .jsonl, .json], of: "replay")
        let command = self
        let (range, words) = try HistoryWords.split(words)
        let stop = try await store.read { store in
            let choice = try command.projection.map { try Self.choice($0, store) }
            var targets = words
            if case .entity(let name) = choice { targets.append(TargetArgument(table: name)) }
            let filter = try store.filter(FilterOptions.parse([]), range: range, targets: targets)
            return try command.replay(filter, in: store, folding: choice)
        }
        if stop.isBreak { throw ExitStatus.negative }
    }

    private func replay(
        _ filter: ChangeFilter, in store: HistoryReader, folding choice: Choice?
    ) throws -> ReplayStop {
        let output = ResultOutput(format)
        let printer = ReplayPrinter(store, output, unit: by, isQuiet: quiet)
        let run = ReplayRun(filter, in: store, to: printer)
        run.breakpoints = try breaks.map { try Breakpoint($0, store) }
        run.watches = try watch.map { try RowProbe(TargetArgument($0), store) }
        if case .sql(let projection) = choice { run.folded = try FoldedProjection(projection, store) }
        let end = try to.map { try store.position(of: $0) }
        if let end, end < run.logRange.after {
            throw CommandError(
                .usage, "--to is @\(end), before the range begins after @\(run.logRange.after).",
                next: "Start the range earlier, or choose a later point.")
        }
        guard !step else {
            if let end { run.jump(to: min(max(end, run.logRange.after), run.logRange.through)) }
            return try ReplayPrompt(run, output, color: format.color, unit: by).loop()
        }
        // Only a condition or a projection can stop it.
        output.needsReader = breaks.isEmpty && projection == nil
        let stop = try run.forward(by: by, through: end)
        try printer.write(stop, at: run.position)
        try output.finish()
        return stop
    }

    /// The projection that `--projection` names.
    private enum Choice {
        /// A projection of the store: an entity's table, or its full-text index. It applies the entity's events.
        case entity(String)
        case sql(SQLProjection)
    }

    private static func choice(_ name: String, _ store: HistoryReader) throws -> Choice {
        if FileManager.default.fileExists(atPath: name) { return .sql(try ProjectionFile.load(name)) }
        if store.catalog.entity(named: name) != nil { return .entity(name) }
        for index in try FullTextIndex.load(store.connection) {
            guard let entity = store.catalog.entity(id: index.entity) else { continue }
            if [index.name, "full-text/\(entity.name)"].contains(name) { return .entity(entity.name) }
        }
        if let known = try StoredProjection.all(in: store.connection).first(where: { $0.name == name }) {
            throw CommandError(
                .inconclusive, "The rules of the projection \(known.name) are in its program, not in the store.",
                next: "Write them in SQL and name the file, or call storage.compareReplay in the program.")
        }
        return .sql(try ProjectionFile.load(name))
    }
}
