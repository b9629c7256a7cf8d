import ArgumentParser
import StorageKit

/// `storagekit compare-replay`: replays one history through two versions of a projection.
struct CompareReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare-replay", abstract: "Compare two versions of a projection over the history.",
        discussion: """
            Reports the first event after which the two differ, and the rows that differ at the end. Both run on \
            temporary databases. Events before RANGE are applied but not compared. Exits with status 1 if they \
            differ, 6 if one of them fails to apply an event.

              storagekit compare-replay -s app.sqlite --old totals.sql --new totals-2.sql
              storagekit compare-replay -s app.sqlite --old a.sql --new b.sql -30d.. --format jsonl

            A projection in SQL first creates its tables. A rule is a comment line that names events and a table, \
            followed by statements that run for each such event; they read :old_COLUMN and :new_COLUMN of the whole \
            row, :op, :position, :commit, :time, :actor and :reason:

              CREATE TABLE totals(customer TEXT PRIMARY KEY, cents INTEGER);
              -- on insert, update of orders
              INSERT INTO totals VALUES (:new_customer, :new_cents)
                ON CONFLICT DO UPDATE SET cents = cents + excluded.cents;
              -- on update, delete of orders
              UPDATE totals SET cents = cents - :old_cents WHERE customer = :old_customer;
            """)

    @Option(name: .long, help: "The file of the old version.")
    var old: String

    @Option(name: .long, help: "The file of the new version.")
    var new: String

    @Argument(help: "The range to compare. Default: the whole history.", transform: CompareReplayCommand.range)
    var range: PointRange?

    @OptionGroup var store: StoreOption

    @Option(name: [.customShort("n"), .customLong("limit")], help: "How many differing rows to show.")
    var limit = 100

    @OptionGroup var format: FormatOptions

    private static func range(_ text: String) throws -> PointRange { try PointRange(text, now: SystemTime.now) }

    func validate() throws {
        if limit < 0 { throw ValidationError("--limit must not be negative.") }
    }

    func run() async throws {
        try format.require([.human, .jsonl, .json], of: "compare-replay")
        let command = self
        let (old, new) = (try ProjectionFile.load(old), try ProjectionFile.load(new))
        let isEqual = try await store.read { store in
            let logRange = try store.logRange(command.range)
            let bar = ProgressBar("compare", total: Int(logRange.through), unit: "events")
            let comparison = try SideBySideReplay(old: old, new: new, of: store.connection).run(
                from: min(logRange.after, logRange.through), to: logRange.through, limit: command.limit
            ) { bar.update(Int($0)) }
            bar.finish()
            let output = ResultOutput(command.format)
            output.needsReader = false
            try ComparisonPrinter(store, output).write(comparison)
            return comparison.isEqual
        }
        if !isEqual { throw ExitStatus.negative }
    }
}

private final class ComparisonPrinter {
    private let store: HistoryReader
    private let output: ResultOutput

    init(_ store: HistoryReader, _ output: ResultOutput) {
        self.store = store
        self.output = output
    }

    func write(_ comparison: ReplayComparison) throws {
        switch output.format {
        case .json:
            try output.document(ComparisonRecord(comparison: comparison, includesRows: true))
            try output.flush()
        case .jsonl:
            try output.record(ComparisonRecord(comparison: comparison, includesRows: false))
            for row in comparison.differences { try output.record(ChangeRecord(change: row)) }
            try output.finish()
        default:
            try writeText(comparison)
            try output.finish()
        }
    }

    private func writeText(_ comparison: ReplayComparison) throws {
        let events = NumberText.count(comparison.events, "event")
        try output.line("compared @\(comparison.from)..@\(comparison.to), \(events)", .dim)
        for (word, list) in [("old", comparison.onlyOld), ("new", comparison.onlyNew)] where !list.isEmpty {
            try output.line("only in the \(word) version, not compared: \(list.joined(separator: ", "))", .changed)
        }
        guard comparison.divergence != nil || comparison.differingRows > 0 else {
            let isWhole = comparison.onlyOld.isEmpty && comparison.onlyNew.isEmpty
            return try output.line("\(isWhole ? "Both are" : "What both have is") the same all the way.")
        }
        if let divergence = comparison.divergence {
            if divergence.isBeforeRange {
                try output.line("They differ already before the range, at @\(divergence.position).", .removed)
            } else {
                try output.line("They differ from this event on:")
                try writeEvent(at: divergence.position)
            }
            if comparison.differingRows == 0 { try output.line("In the end they are the same again.") }
        } else if comparison.differingRows > 0 {
            try output.line("Only virtual tables differ, so the first differing event is unknown.")
        }
        guard comparison.differingRows > 0 else { return }
        try output.line()
        for row in comparison.differences {
            try output.line(row.changeLine(indent: 0))
            for line in row.columnLines(indent: 4) { try output.line(line) }
        }
        let rows = comparison.differingRows
        let hidden = rows - comparison.differences.count
        var line = StyledLine(NumberText.count(rows, "row differs", plural: "rows differ"), .dim)
        if hidden > 0 { line.addWord("\(NumberText.grouped(hidden)) of them not shown; -n \(rows) shows all", .dim) }
        try output.line(line)
    }

    private func writeEvent(at position: Int64) throws {
        guard let event = try store.event(at: position) else { return }
        try output.line(event.headline(showsTarget: true))
        for line in event.columnLines(indent: 4) { try output.line(line) }
    }
}
