internal import CSQLite
internal import StorageCore
package import StorageLog

/// Copies rows from one database to a table of the same name in another, with exactly the same values.
package struct TableCopy {
    private let source: Connection
    private let target: Connection

    package init(from source: Connection, to target: Connection) {
        self.source = source
        self.target = target
    }

    /// - Parameter columns: The columns to copy; all if empty.
    package func run(_ table: String, columns: [String] = []) throws {
        let list = columns.isEmpty ? "*" : columns.map(quoted).joined(separator: ", ")
        let select = try PreparedStatement(source, "SELECT \(list) FROM \(quoted(table))")
        let found = (0..<sqlite3_column_count(select.pointer)).map {
            String(cString: sqlite3_column_name(select.pointer, $0))
        }
        let names = columns.isEmpty ? found : columns
        let insert = try Self.insert(
            select, into: quoted(table), list: names.map(quoted).joined(separator: ", "), target)
        while try select.step() { try Self.copy(select, with: insert) }
    }

    /// The statement that inserts a row of `select` into the columns of `list`, or fails: whatever the schema's conflict clauses
    /// say, no row is replaced or skipped.
    static func insert(
        _ select: PreparedStatement, into table: String, list: String, _ target: Connection
    ) throws -> PreparedStatement {
        let placeholders = (0..<sqlite3_column_count(select.pointer)).map { _ in "?" }.joined(separator: ", ")
        return try PreparedStatement(target, "INSERT OR ABORT INTO \(table)(\(list)) VALUES (\(placeholders))")
    }

    static func copy(_ row: PreparedStatement, with insert: PreparedStatement) throws {
        for column in 0..<sqlite3_column_count(row.pointer) {
            sqlite3_bind_value(insert.pointer, column + 1, sqlite3_column_value(row.pointer, column))
        }
        try insert.execute()
    }
}
