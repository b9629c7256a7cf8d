internal import CSQLite
package import GRDB

extension GRDB.Database {
    /// Runs a statement that the connection keeps prepared, without GRDB's rows: for what is asked again and again.
    ///
    /// - Parameter body: Binds its parameters, and goes through its rows.
    package func withKept<Result>(_ sql: String, _ body: (StatementRows) throws -> Result) throws -> Result {
        let statement = try cachedStatement(sql: sql).sqliteStatement
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        return try body(StatementRows(statement: statement))
    }
}
