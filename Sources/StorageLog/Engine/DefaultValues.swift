internal import CSQLite
internal import StorageCore

/// Tells which value an SQL literal in a DEFAULT clause gives to rows, by storing it in a column of the same affinity:
/// `CAST` follows other rules (it leaves 0.0 in a NUMERIC column, where SQLite stores 0).
///
/// Not `Sendable`: made where it is used.
final class DefaultValues {
    private var database: OpaquePointer?

    deinit { sqlite3_close_v2(database) }

    /// The value; NULL for defaults that depend on the moment or on the program's own functions, which never stand for
    /// rows from before: SQLite refuses them in ADD COLUMN.
    func value(of literal: String, type: String) throws -> StorageValue {
        let scratch = try scratch()
        let name =
            switch ColumnAffinity(declaredType: type) {
            case .blob: ""
            case .text: "TEXT"
            case .numeric: "NUMERIC"
            case .integer: "INTEGER"
            case .real: "REAL"
            }
        try Statement(scratch, "DROP TABLE IF EXISTS held").execute()
        try Statement(scratch, "CREATE TABLE held(value \(name))").execute()
        guard let insert = try? Statement(scratch, "INSERT INTO held SELECT (\(literal))") else { return .null }
        try insert.execute()
        let select = try Statement(scratch, "SELECT value FROM held")
        return try select.step() ? select.row.value(at: 0) : .null
    }

    private func scratch() throws -> OpaquePointer {
        if let database { return database }
        let code = sqlite3_open_v2(":memory:", &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil)
        guard code == SQLITE_OK, let database else {
            throw StorageError.sqlite(code: code, message: "there is no memory for a scratch database", sql: nil)
        }
        return database
    }
}
