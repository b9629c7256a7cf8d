import ArgumentParser
import StorageKit

/// `storagekit explain`: the cost of a query.
struct ExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "Show how a query of sql would be answered, without running it.",
        discussion: """
            Shows SQLite's plan, in which SCAN reads every row and SEARCH uses a key or an index. For a table of history \
            it shows the conditions by which events are chosen: on the key, _position, _commit, _time, _op, _actor and \
            _reason. Without one of these, the whole log is read.

              storagekit explain -s app.sqlite "SELECT * FROM users WHERE id = 42"
              storagekit explain -s app.sqlite "SELECT count(*) FROM history_users" --format json
            """)

    @Argument(help: "One SELECT.")
    var sql: String

    @OptionGroup var store: StoreOption
    @OptionGroup var format: FormatOptions

    func run() async throws {
        try format.require([.human, .json, .jsonl], of: "explain")
        let command = self
        try await store.read { store in
            let record = try Self.record(of: command.sql, store)
            let output = ResultOutput(command.format)
            if output.format == .human { try Self.write(record, to: output) } else { try output.document(record) }
            try output.flush()
        }
    }

    private static func record(of sql: String, _ store: HistoryReader) throws -> ExplainRecord {
        let tables = try HistoryTableInstaller(store.connection)
        do {
            let plan = try tables.plan(for: sql)
            let steps = plan.steps.map { ExplainRecord.Step(id: $0.id, parent: $0.parent, detail: $0.detail) }
            return ExplainRecord(
                history: plan.whole, events: plan.whole.isEmpty ? 0 : store.head.position, steps: steps)
        } catch let error as StorageError {
            if let error = CommandError(unreadable: sql, error) { throw error }
            throw CommandError(missingIn: sql, error, catalog: store.catalog, tables: tables.names)
                ?? CommandError(error)
        }
    }

    private static func write(_ record: ExplainRecord, to output: ResultOutput) throws {
        var depths: [Int64: Int] = [0: 0]
        for step in record.steps {
            let depth = depths[step.parent] ?? 0
            depths[step.id] = depth + 1
            try output.line(String(repeating: "  ", count: depth) + step.detail)
        }
        for table in record.history {
            let events = NumberText.count(Int(record.events), "event")
            try output.line("\(table) reads up to \(events) of the log", .dim)
        }
    }
}
