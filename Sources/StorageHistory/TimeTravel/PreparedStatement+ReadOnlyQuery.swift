internal import CSQLite
internal import Foundation
internal import StorageCore
package import StorageLog

extension PreparedStatement {
    /// Prepares a query of a user.
    ///
    /// - Throws: SQLite's error; `invalid-argument` if it isn't a single read-only query.
    package convenience init(query sql: String, on database: Connection) throws {
        var rest = ""
        let code = sql.withCString { start -> Int32 in
            var statement: OpaquePointer?
            var tail: UnsafePointer<CChar>?
            let code = sqlite3_prepare_v2(database.handle, start, -1, &statement, &tail)
            rest = tail.map { String(cString: $0) } ?? ""
            sqlite3_finalize(statement)
            return code
        }
        guard code == SQLITE_OK else { throw database.error(code, sql: sql) }
        guard rest.allSatisfy({ $0.isWhitespace || $0 == ";" }), sql.contains(where: { !$0.isWhitespace && $0 != ";" })
        else { throw StorageError.notAQuery(sql) }
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

    /// The table that SQLite couldn't find.
    package var missingTable: String? {
        guard code == .database, let range = message.range(of: "no such table: ", options: .backwards) else {
            return nil
        }
        let name = message[range.upperBound...]
        return String(name.hasSuffix(".") ? name.dropLast() : name)
    }
}
