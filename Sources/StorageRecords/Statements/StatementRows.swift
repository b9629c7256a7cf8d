internal import CSQLite
internal import StorageCore

/// The rows of a statement, one after another.
///
/// Not `Sendable`: it lives on the connection's thread for the length of one call.
public struct StatementRows {
    /// The current row, after ``next()`` has returned true.
    public let row: RowReader

    package init(statement: OpaquePointer) { row = RowReader(statement: statement) }

    /// The parameters, to be bound before the first row.
    package var parameters: RowWriter { RowWriter(statement: row.statement) }

    /// Steps to the next row; false after the last one.
    ///
    ///
    /// - Throws: Errors of SQLite, and those of cancelled or closed connections.
    public func next() throws -> Bool {
        switch storage_step(row.statement) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code: throw Connection(of: row).error(code)
        }
    }
}
