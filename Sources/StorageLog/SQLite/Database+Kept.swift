internal import CSQLite
package import GRDB

extension GRDB.Database {
    /// Runs a cached prepared statement without GRDB's rows, for queries that are repeated often.
    ///
    /// - Parameter body: Binds the parameters and iterates over the rows.
    package func withKept<Result>(_ sql: String, _ body: (StatementRows) throws -> Result) throws -> Result {
        let statement = try cachedStatement(sql: sql).sqliteStatement
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        return try body(StatementRows(statement: statement))
    }
}
