internal import CSQLite
internal import Foundation
internal import StorageCore
package import StorageLog

extension PreparedStatement {
    /// Prepares a query of a user.
    ///
    /// - Throws: SQLite's error; `invalid-argument` if it isn't a single read-only query.
    package convenience init(query sql: String, on database: Connection) throws {
        try sql.withCString { start in
            var statement: OpaquePointer?
            var tail: UnsafePointer<CChar>?
            var code = sqlite3_prepare_v2(database.handle, start, -1, &statement, &tail)
            sqlite3_finalize(statement)
            guard code == SQLITE_OK else { throw database.error(code, sql: sql) }
            // Of white space, comments and semicolons SQLite makes no statement.
            guard statement != nil else { throw StorageError.notAQuery(sql) }
            code = sqlite3_prepare_v2(database.handle, tail, -1, &statement, nil)
            sqlite3_finalize(statement)
            guard code == SQLITE_OK, statement == nil else { throw StorageError.severalStatements(sql) }
        }
        try self.init(database, sql)
        guard sqlite3_stmt_readonly(pointer) != 0, sqlite3_column_count(pointer) > 0 else {
            throw StorageError.notAQuery(sql)
        }
    }
}

extension StorageError {
    fileprivate static func notAQuery(_ sql: String) -> StorageError {
        StorageError(
            .invalidArgument, "\"\(sql.prefix(200))\" isn't a query.",
            remedy: "Write one SELECT; a snapshot is read-only.")
    }

    fileprivate static func severalStatements(_ sql: String) -> StorageError {
        StorageError(
            .invalidArgument, "\"\(sql.prefix(200))\" is more than one statement.",
            remedy: "Write one SELECT; run others on their own.")
    }

    /// The table that SQLite couldn't find.
    package var missingTable: String? {
        guard code == .database, let range = message.range(of: "no such table: ", options: .backwards) else {
            return nil
        }
        let name = message[range.upperBound...]
        return String(name.hasSuffix(".") ? name.dropLast() : name)
    }
}
