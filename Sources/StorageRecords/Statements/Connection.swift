internal import CSQLite
package import StorageCore

/// A connection to an SQLite database, below GRDB.
///
/// It is only the address of the connection: the code that opened it closes it, and copies cost nothing.
///
/// Not `Sendable`: a connection is used by one thread at a time.
package struct Connection {
    /// The SQLite handle, for calls that need C: hooks, backups, counters.
    package let handle: OpaquePointer
    /// Sound, like the handle: the object is there until it closes the connection, and a closed connection isn't used.
    private unowned(unsafe) let owner: (any ConnectionOwner)?

    /// - Parameter owner: The object that has opened the connection and closes it, if it takes account of statements.
    package init(_ handle: OpaquePointer, owner: (any ConnectionOwner)? = nil) {
        self.handle = handle
        self.owner = owner
    }

    /// The connection of a row's statement.
    package init(of row: RowReader) { self.init(sqlite3_db_handle(row.statement)) }

    /// Opens a database file; without a name, a temporary file that SQLite deletes when the connection is closed.
    ///
    /// Its statements can't attach other files: see ``refuseAttachments()``.
    ///
    /// - Parameters:
    ///   - name: A path, `:memory:`, or a URI if `flags` allow it.
    ///   - flags: SQLite's flags, such as `SQLITE_OPEN_READWRITE`.
    ///   - problem: The error's message if SQLite can't open it.
    /// - Throws: ``StorageError`` of SQLite's result code.
    package init(opening name: String, flags: Int32, orFailWith problem: @autoclosure () -> String) throws {
        var handle: OpaquePointer?
        let code = sqlite3_open_v2(name, &handle, flags, nil)
        guard code == SQLITE_OK, let handle else {
            sqlite3_close_v2(handle)
            throw StorageError.sqlite(code: code, message: problem(), sql: nil)
        }
        self.init(handle)
        refuseAttachments()
    }

    /// Closes the connection; if it still has statements, when the last of them has ended.
    package func close() { sqlite3_close_v2(handle) }

    /// Runs statements that have no parameters, one after another, and skips their rows.
    ///
    /// - Throws: ``StorageError`` with SQLite's message for the first one that fails; those before it have run.
    package func execute(_ sql: String) throws {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw error(code, sql: sql) }
    }

    /// Whether the database has a table of this name. GRDB's `tableExists` also finds tables whose creation was rolled back.
    package func hasTable(_ name: String) throws -> Bool {
        let select = try PreparedStatement(
            self, "SELECT 1 FROM main.sqlite_schema WHERE type = 'table' AND name = ?1 COLLATE NOCASE")
        select.bind(text: name, at: 1)
        return try select.step()
    }

    /// Makes GRDB forget what the statements read and write that were compiled here.
    ///
    /// SQLite reports to GRDB each column that a statement reads, and GRDB adds them up, with a copy of all before, until it
    /// compiles a statement of its own. Code that compiles statements for one table after another calls this for each: otherwise
    /// each costs more than the one before.
    ///
    /// Not for code that SQLite calls while it compiles a statement: that may be one of GRDB's.
    package func forgetCompiledStatements() { owner?.forgetCompiledStatements() }

    /// For work between statements that takes long: a statement itself is interrupted.
    ///
    /// - Throws: `CancellationError` if the task that reads by this connection was cancelled.
    package func checkCancellation() throws { try owner?.checkCancellation() }

    /// Rows that the last statement inserted, updated or deleted.
    package var changes: Int { Int(sqlite3_changes64(handle)) }

    /// Rows that statements have inserted, updated or deleted since the connection was opened, those that triggers and actions of
    /// foreign keys changed included, whether or not the changes were undone.
    package var totalChanges: Int64 { sqlite3_total_changes64(handle) }

    /// The extended result code of the last call that failed.
    package var errorCode: Int32 { sqlite3_extended_errcode(handle) }

    /// SQLite's message for the last call that failed.
    package var errorMessage: String { String(cString: sqlite3_errmsg(handle)) }

    /// The error of the last call, which returned `code`.
    package func error(_ code: Int32, sql: String? = nil) -> StorageError {
        let extended = errorCode
        return .sqlite(code: extended == SQLITE_OK ? code : extended, message: errorMessage, sql: sql)
    }

    /// Whether the file's path no longer leads to it: the file was moved, deleted or replaced since it was opened. Costs a `stat`.
    package var fileHasMoved: Bool {
        var hasMoved: Int32 = 0
        sqlite3_file_control(handle, nil, SQLITE_FCNTL_HAS_MOVED, &hasMoved)
        return hasMoved != 0
    }

    /// The file's first bytes, without what is only in its write-ahead log; fewer if the file is shorter.
    ///
    /// This is the only way to read a database file that doesn't go through SQL. POSIX releases all locks that a process has on a
    /// file as soon as the process closes any descriptor of it: if our own code opened and closed the file, other programs would no
    /// longer see that the store is in use, and the last of them would delete its write-ahead log. SQLite closes a descriptor only
    /// when the process has no locks on the file (https://sqlite.org/howtocorrupt.html, 2.2).
    package func firstBytes(_ count: Int) throws -> [UInt8] {
        var file: UnsafeMutablePointer<sqlite3_file>?
        let found = sqlite3_file_control(handle, nil, SQLITE_FCNTL_FILE_POINTER, &file)
        guard found == SQLITE_OK, let file, let methods = file.pointee.pMethods?.pointee,
            let size = methods.xFileSize, let read = methods.xRead
        else { throw error(found) }
        var length: sqlite3_int64 = 0
        var code = size(file, &length)
        // SQLite says of a file of one byte that it is empty. Swift doesn't import the macro of the code.
        let endsEarly = SQLITE_IOERR | 2 << 8
        var bytes = [UInt8](repeating: 0, count: min(count, max(1, Int(length))))
        if code == SQLITE_OK { code = read(file, &bytes, Int32(bytes.count), 0) }
        if code == endsEarly, length == 0 { return [] }
        guard code == SQLITE_OK else {
            throw StorageError.sqlite(code: code, message: "\(path ?? "the file") can't be read", sql: nil)
        }
        return bytes
    }

    /// The path of the file, as SQLite resolved it; nil for a database in memory and for a temporary file.
    package var path: String? {
        guard let name = sqlite3_db_filename(handle, "main"), name.pointee != 0 else { return nil }
        return String(cString: name)
    }

    /// Enables or disables triggers.
    package func setTriggersEnabled(_ isEnabled: Bool) { storage_set_triggers_enabled(handle, isEnabled ? 1 : 0) }

    /// Enables or disables foreign keys, also inside a transaction. Code that disables them has to check for violations before
    /// the transaction ends, because SQLite doesn't count those that arise meanwhile.
    package func setForeignKeysEnabled(_ isEnabled: Bool) {
        storage_set_foreign_keys_enabled(handle, isEnabled ? 1 : 0)
    }

    /// Lets no statement attach another file, which `VACUUM` does as well: where SQL of a file runs, an enemy may have written it.
    package func refuseAttachments() { sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0) }

    /// Runs statements that may attach files, as many as SQLite permits by default, or a `VACUUM`. The files stay attached.
    package func allowingAttachment<Result>(_ body: () throws -> Result) rethrows -> Result {
        let usual = sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 10)
        defer { sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, usual) }
        return try body()
    }

    /// Runs statements whose triggers and actions of foreign keys may cause others only up to a depth. SQLite refuses one that goes
    /// deeper, and may leave what it has done by then: a savepoint has to undo that.
    package func withTriggerDepth<Result>(_ depth: Int32, _ body: () throws -> Result) rethrows -> Result {
        let usual = sqlite3_limit(handle, SQLITE_LIMIT_TRIGGER_DEPTH, depth)
        defer { sqlite3_limit(handle, SQLITE_LIMIT_TRIGGER_DEPTH, usual) }
        return try body()
    }
}

/// The object that has opened a connection, and takes account of the statements that are compiled there.
package protocol ConnectionOwner: AnyObject {
    func forgetCompiledStatements()
    func checkCancellation() throws
}
