internal import CSQLite
internal import Foundation
internal import StorageCore

/// A connection to a database file other than the store's own: to read a file that isn't a store, or to create one that isn't in
/// use yet.
///
/// Not `Sendable`: it belongs to its creator, one call at a time.
package final class DatabaseFile {
    package enum Access {
        /// Nothing is changed, not even the write-ahead log; but what an ended process has left in a rollback journal is undone.
        case reading
        /// The file is complete and has no writers: it is read without any file beside it.
        case unchanging
        /// The only connection to the file; its writes take effect when the file is renamed to its final name.
        case making
        /// The only connection to a file that other processes know.
        case owning
    }

    /// Absolute, with its symbolic links resolved.
    package let path: String

    private let connection: Connection
    /// The time to wait for others that have locked the file.
    private static let busyMilliseconds: Int32 = 5_000
    /// Pages that a copy reads between two reports of its progress.
    private static let pagesOfAStep: Int32 = 1_024

    /// - Throws: `not-found`, `not-a-store` or `busy`; `corrupt` or `conflict` for what is left of a lost store.
    package init(_ path: String, _ access: Access) throws {
        storage_configure_process()
        let path = try StoreFileCheck.validated(path)
        self.path = path
        if access != .making {
            guard FileManager.default.fileExists(atPath: path) else {
                throw StorageError(.notFound, "There is no file \(path).", remedy: "Check the name.")
            }
            try StoreFileCheck.checkIsNotLost(path)
        }
        switch access {
        case .reading: try Self.undoUnfinishedChange(of: path)
        case .owning: try StoreFileCheck.checkLogs(of: path)
        // The file has none.
        case .unchanging, .making: break
        }
        let flags: Int32
        var name = path
        switch access {
        case .reading: flags = SQLITE_OPEN_READONLY
        case .unchanging:
            flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
            var allowed = CharacterSet.urlPathAllowed
            allowed.remove(charactersIn: "?#%")
            name = "file://" + (path.addingPercentEncoding(withAllowedCharacters: allowed) ?? path) + "?immutable=1"
        case .making: flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        case .owning: flags = SQLITE_OPEN_READWRITE
        }
        connection = try Connection(opening: name, flags: flags, orFailWith: "\(path) can't be opened")
        if access != .owning { storage_disable_checkpoint_on_close(connection.handle) }
        sqlite3_busy_timeout(connection.handle, access == .owning ? 0 : Self.busyMilliseconds)
        do {
            try Self.registerTextDefinitions(on: connection)
            switch access {
            case .making:
                try run("PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF")
                // Afterwards: it refuses to turn the journal off.
                storage_set_defensive(connection.handle, 1)
            case .owning: try own(path)
            default: break
            }
            // The first read shows whether the file is a database at all.
            try PreparedStatement(connection, "SELECT count(*) FROM sqlite_schema").execute()
        } catch let error as StorageError where error.code == .corrupt {
            throw StorageError(
                .notAStore, "\(path) isn't an SQLite database, or it is damaged at its root.",
                remedy: "Check the name.",
                cause: error)
        }
    }

    deinit { connection.close() }

    /// Calls `body` with the connection, which stays open during the call.
    package func with<Result>(_ body: (Connection) throws -> Result) rethrows -> Result {
        try withExtendedLifetime(self) { try body(connection) }
    }

    package func run(_ sql: String) throws { try connection.execute(sql) }

    /// Takes the lock, which is kept until the connection is closed.
    private func own(_ path: String) throws {
        do {
            try run("PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = FULL; BEGIN EXCLUSIVE; COMMIT")
        } catch let error as StorageError where error.code == .busy {
            throw StorageError(
                .busy, "Another process has \(path) open.", remedy: "Close it there first.", cause: error)
        }
    }
}

extension DatabaseFile {
    /// Undoes the change of a process that ended in the middle of it, which a connection for reading only can't do. The
    /// journal of a process that is still at work isn't touched.
    ///
    /// - Throws: `read-only` if there is such a change and the file or its folder can't be written to; `conflict` if a file that
    ///   isn't SQLite's has the name of its journal or of its write-ahead log.
    static func undoUnfinishedChange(of path: String) throws {
        let journal = path + "-journal"
        var found = stat()
        // SQLite would delete the journal of a file that has lost its content.
        guard stat(path, &found) == 0, found.st_size > 0 else { return }
        try StoreFileCheck.checkLogs(of: path)
        guard stat(journal, &found) == 0, found.st_size > 0, StoreFileCheck.isJournal(journal) else { return }
        let connection = try Connection(
            opening: path, flags: SQLITE_OPEN_READWRITE, orFailWith: "\(path) can't be opened")
        defer { connection.close() }
        sqlite3_busy_timeout(connection.handle, busyMilliseconds)
        storage_disable_checkpoint_on_close(connection.handle)
        do {
            try PreparedStatement(connection, "SELECT count(*) FROM sqlite_schema").execute()
        } catch let error as StorageError where [.readOnly, .ioError].contains(error.code) {
            throw StorageError(
                .readOnly,
                "\(journal) has a change that was never finished and must be undone before \(path) can be read.",
                remedy: "Allow writing to both and to their folder, or copy both into a folder that can be written to.",
                cause: error)
        } catch is StorageError {
            // A process is at work on the file, or it is no database: reading it waits, or says so.
        }
    }

    /// Copies every page of a database to another, as one consistent state, while others may continue to write to it.
    ///
    /// Uses SQLite's backup rather than `VACUUM INTO`, which changes the rowids of tables without an integer key, by which
    /// full-text indexes identify rows.
    ///
    /// - Parameters:
    ///   - source: A connection inside a read transaction, or one without concurrent writers.
    ///   - progress: Called with the number of copied pages and of all pages.
    package static func copy(
        _ source: Connection, into target: Connection,
        progress: (_ done: Int, _ all: Int) throws -> Void = { _, _ in }
    ) throws {
        guard let backup = sqlite3_backup_init(target.handle, "main", source.handle, "main") else {
            throw target.error(target.errorCode)
        }
        var code = SQLITE_OK
        do {
            repeat {
                code = sqlite3_backup_step(backup, pagesOfAStep)
                let all = Int(sqlite3_backup_pagecount(backup))
                try progress(all - Int(sqlite3_backup_remaining(backup)), all)
            } while code == SQLITE_OK
        } catch {
            sqlite3_backup_finish(backup)
            throw error
        }
        sqlite3_backup_finish(backup)
        guard code == SQLITE_DONE else { throw target.error(code) }
    }
}
