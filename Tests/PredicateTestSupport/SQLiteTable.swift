internal import CSQLite
internal import Foundation
package import StorageCore

/// A table of SQLite with columns of every affinity and collation.
package final class SQLiteTable {
    package static let declared: [(name: String, type: String, collation: RowPredicate.Collation)] = [
        ("i", "INTEGER", .binary), ("t", "TEXT", .binary), ("tn", "TEXT", .noCase), ("tr", "TEXT", .trimmed),
        ("r", "REAL", .binary), ("n", "BOOLEAN", .binary), ("nn", "DATETIME", .noCase), ("b", "BLOB", .binary),
        ("u", "", .binary), ("un", "", .noCase),
    ]
    package static let columns = declared.map {
        EvaluatedColumn(name: $0.name, affinity: ColumnAffinity(declaredType: $0.type), collation: $0.collation)
    }

    private let database: OpaquePointer

    package init() throws {
        var database: OpaquePointer?
        guard sqlite3_open(":memory:", &database) == SQLITE_OK, let database else { throw Failure("can't open") }
        self.database = database
        let columns = Self.declared.map { "\"\($0.name)\" \($0.type) COLLATE \($0.collation.rawValue)" }
        try run("CREATE TABLE rows(\(columns.joined(separator: ", ")))")
    }

    deinit { sqlite3_close_v2(database) }

    package struct Failure: Error {
        package let message: String
        package init(_ message: String) { self.message = message }

        /// SQLite 3.40.1 sometimes takes its own list of an IN for damaged where the column's collation is RTRIM and the
        /// list has texts that differ in spaces at their ends: `IN (' ', '', ' ')`. There is no answer to compare then.
        package var isBugOfRTRIM: Bool { message.contains("\"tr\" IN") && message.hasSuffix("malformed") }
    }

    package func fill(_ rows: [[StorageValue]]) throws {
        try run("DELETE FROM rows")
        let marks = Self.declared.map { _ in "?" }.joined(separator: ", ")
        for row in rows { _ = try query("INSERT INTO rows VALUES (\(marks))", row) }
    }

    package func rows() throws -> [[StorageValue]] { try query("SELECT * FROM rows ORDER BY rowid") }

    /// What SQLite answers for each row.
    package func answers(_ condition: String, _ values: [StorageValue]) throws -> [Bool?] {
        try query("SELECT (\(condition)) FROM rows ORDER BY rowid", values).map { row in
            switch row[0] {
            case .null: nil
            case .integer(let answer): answer != 0
            default: throw Failure("\(condition) isn't a truth value")
            }
        }
    }

    /// The rows' numbers, from 0 on, in an order.
    package func order(by terms: String) throws -> [Int] {
        try query("SELECT row_number() OVER (ORDER BY rowid) - 1 AS place FROM rows ORDER BY \(terms), rowid").map {
            row in
            guard case .integer(let place) = row[0] else { throw Failure("no number") }
            return Int(place)
        }
    }

    private func run(_ sql: String) throws { _ = try query(sql) }

    private func query(_ sql: String, _ values: [StorageValue] = []) throws -> [[StorageValue]] {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK else {
            throw Failure("\(sql): \(String(cString: sqlite3_errmsg(database)))")
        }
        defer { sqlite3_finalize(statement) }
        guard Int(sqlite3_bind_parameter_count(statement)) == values.count else {
            throw Failure("placeholders of \(sql)")
        }
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        for (index, value) in values.enumerated() {
            let place = Int32(index + 1)
            switch value {
            case .null: sqlite3_bind_null(statement, place)
            case .integer(let value): sqlite3_bind_int64(statement, place, value)
            case .real(let value): sqlite3_bind_double(statement, place, value)
            case .text(let value): sqlite3_bind_text(statement, place, value, Int32(value.utf8.count), transient)
            case .blob(let value):
                _ = value.withUnsafeBytes {
                    $0.count == 0
                        ? sqlite3_bind_zeroblob(statement, place, 0)
                        : sqlite3_bind_blob(statement, place, $0.baseAddress, Int32($0.count), transient)
                }
            }
        }
        var rows: [[StorageValue]] = []
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW:
                rows.append((0..<sqlite3_column_count(statement)).map { value(statement, $0) })
            case SQLITE_DONE: return rows
            default: throw Failure("\(sql): \(String(cString: sqlite3_errmsg(database)))")
            }
        }
    }

    private func value(_ statement: OpaquePointer?, _ column: Int32) -> StorageValue {
        switch sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(statement, column))
        case SQLITE_FLOAT: return .real(sqlite3_column_double(statement, column))
        case SQLITE_TEXT: return .text(String(cString: sqlite3_column_text(statement, column)))
        case SQLITE_BLOB:
            let count = Int(sqlite3_column_bytes(statement, column))
            return .blob(count == 0 ? Data() : Data(bytes: sqlite3_column_blob(statement, column), count: count))
        default: return .null
        }
    }
}
