import ArgumentParser
import Foundation
import GRDB
import StorageKit

/// `storagekit sql`: queries over the present and the whole history.
struct SQLCommand: AsyncParsableCommand, FormattedPagedCommand {
    static let configuration = CommandConfiguration(
        commandName: "sql", abstract: "Query the tables and their history with SQL.",
        discussion: """
            Every table, view and full-text index of the store can be queried. For each recorded TABLE there are \
            history_TABLE, a row for each version with its values and the columns _position, _until (NULL for the current \
            version of a row that exists), _commit, _time, _actor, _reason and _op; changes_TABLE, a row for each \
            event with old_ and new_ before each column and _changed, the names of those that changed; and commits \
            (always storage_commits, too): number, first, last, time, actor, app, reason, correlation, events. \
            Conditions on the key, _position, _commit, _time, _op, _actor and _reason choose which events are read; \
            without one, all are. "-" reads the query from standard input. Without \
            a query, a terminal gets a prompt, where Tab completes tables and columns.

            SELECT * leaves out the column _position that each recorded table has; a query that names it gets it.

            Your own names take precedence: if you have a table history_TABLE, the history is storage_history_TABLE; \
            if you have a column _op, it is __op.

              storagekit sql -s app.sqlite
              storagekit sql -s app.sqlite "SELECT * FROM users WHERE id = 42"
              storagekit sql -s app.sqlite "SELECT _actor, count(*) FROM changes_users GROUP BY 1 ORDER BY 2 DESC"
              storagekit sql -s app.sqlite "SELECT _time, price FROM history_items WHERE id = 7" --format csv
            """)

    @Argument(help: "One SELECT, or - to read it from standard input. Default: a prompt on a terminal.")
    var sql: String?

    @OptionGroup var store: StoreOption
    @OptionGroup var rows: RowOptions
    @OptionGroup var format: FormatOptions
    @OptionGroup var pager: PagerOption

    var isPaged: Bool { sql != nil && isPagedAtPrompt }

    /// Whether an answer at the prompt is paged.
    var isPagedAtPrompt: Bool { !pager.noPager && format.format == .human }

    func run() async throws {
        try rows.check(format.format)
        if sql == nil, let prompt = SQLPrompt(self) { return try await prompt.run() }
        let text: String
        if let sql, sql != "-" {
            text = sql
        } else {
            text = try StandardInput.text()
        }
        guard text.contains(where: { !$0.isWhitespace }) else {
            throw CommandError(
                .usage, "There is no query.",
                next: "For example: storagekit sql -s app.sqlite \"SELECT * FROM users WHERE id = 42\"")
        }
        let (command, shown) = (self, rows.display)
        try await store.read { try command.answer(text, shown, $0) }
    }

    /// Runs one query.
    func answer(_ sql: String, _ shown: RowDisplay, _ store: HistoryReader) throws {
        let tables = try HistoryTableInstaller(store.connection)
        let statement = try Self.statement(for: sql, tables, store)
        let printer = QueryPrinter(ResultOutput(format, isTruncated: !shown.isWhole), shown)
        let result = QueryResult(statement, catalog: store.catalog, sql: sql)
        printer.expect(result.columns)
        do {
            while let row = try result.next() { try printer.write(row) }
        } catch {
            throw tables.failure ?? error
        }
        try printer.finish()
        ComparisonHint.find(in: sql, store.catalog)?.write()
    }

    private static func statement(
        for sql: String, _ tables: HistoryTableInstaller, _ store: HistoryReader
    ) throws -> PreparedStatement {
        do {
            return try tables.statement(for: sql)
        } catch let error as StorageError {
            if let error = CommandError(unreadable: sql, error) { throw error }
            throw CommandError(missingIn: sql, error, catalog: store.catalog, tables: tables.names)
                ?? CommandError(error)
        }
    }
}
