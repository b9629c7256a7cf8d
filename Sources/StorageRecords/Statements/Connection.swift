internal import CSQLite
package import StorageCore

/// A connection to an SQLite database, as what lies below GRDB uses it.
///
/// It is the address of the connection and nothing else: whoever opened it closes it, and copies cost nothing.
///
/// Not `Sendable`: a connection is used by one thread at a time.
package struct Connection {
    /// For what only C can do: hooks, backups, counters.
    package let handle: OpaquePointer

    package init(_ handle: OpaquePointer) { self.handle = handle }

    /// The connection that a row's statement was prepared on.
    package init(of row: RowReader) { handle = sqlite3_db_handle(row.statement) }

    /// Opens a database file; without a name, a temporary file that SQLite deletes when the connection is closed.
    ///
    /// - Parameters:
    ///   - name: A path, `:memory:`, or an URI where `flags` say so.
    ///   - flags: `SQLITE_OPEN_READWRITE` and its kind.
    ///   - problem: What the error says where SQLite can't open it.
    /// - Throws: ``StorageError`` of SQLite's result code.
    package init(opening name: String, flags: Int32, orFailWith problem: @autoclosure () -> String) throws {
        var handle: OpaquePointer?
        let code = sqlite3_open_v2(name, &handle, flags, nil)
        guard code == SQLITE_OK, let handle else {
            sqlite3_close_v2(handle)
            throw StorageError.sqlite(code: code, message: problem(), sql: nil)
        }
        self.init(handle)
    }

    /// Closes the connection, at the latest when the last of its statements has ended.
    package func close() { sqlite3_close_v2(handle) }

    /// Runs statements that have no parameters, one after another, and skips their rows.
    ///
    /// - Throws: ``StorageError`` with what SQLite says of the first one that fails; those before it have run.
    package func execute(_ sql: String) throws {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw error(code, sql: sql) }
    }

    /// Rows that the last statement inserted, updated or deleted.
    package var changes: Int { Int(sqlite3_changes64(handle)) }

    /// The result code of the last call that failed, in its extended form.
    package var errorCode: Int32 { sqlite3_extended_errcode(handle) }

    /// What SQLite says of the last call that failed.
    package var errorMessage: String { String(cString: sqlite3_errmsg(handle)) }

    /// The error of the last call, which answered `code`.
    package func error(_ code: Int32, sql: String? = nil) -> StorageError {
        let extended = errorCode
        return .sqlite(code: extended == SQLITE_OK ? code : extended, message: errorMessage, sql: sql)
    }

    /// The path of the file, as SQLite resolved it; nil for a database in memory and for a temporary file.
    package var path: String? {
        guard let name = sqlite3_db_filename(handle, "main"), name.pointee != 0 else { return nil }
        return String(cString: name)
    }

    /// Lets triggers run, or keeps them from running.
    package func setTriggersEnabled(_ isEnabled: Bool) { storage_set_triggers_enabled(handle, isEnabled ? 1 : 0) }

    /// Lets foreign keys be checked, or keeps them from it; inside a transaction too. Whoever switches them off has to look for
    /// violations before the transaction ends, because SQLite doesn't count those that come about meanwhile.
    package func setForeignKeysEnabled(_ isEnabled: Bool) {
        storage_set_foreign_keys_enabled(handle, isEnabled ? 1 : 0)
    }
}
