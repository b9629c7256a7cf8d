#if SQLITE_ENGINE_SQLITENIO
    internal import CSQLite
    internal import StorageRecords
    internal import StorageSQLiteClient

    /// How to open a database, determined on each opening.
    struct ConnectionOpening {
        enum Target {
            case memory
            case file(String)
            case store(StoreFile)
        }

        let target: Target
        let configuration: SQLiteConnectionConfiguration

        /// Determines how to open the file in its current state.
        ///
        /// - Throws: `invalid-argument` for a path that SQLite would interpret differently.
        init(_ storage: SQLiteStorage, _ configuration: SQLiteConnectionConfiguration) throws {
            self.configuration = configuration
            switch storage {
            case .memory: target = .memory
            case .file(let path):
                guard !path.isEmpty, !path.utf8.contains(0) else {
                    throw SQLiteClientError(
                        .invalidArgument, "\"\(path)\" isn't the path of a file.",
                        remedy: "Name a file, or open `.memory`.")
                }
                // SQLite gives names such as ":memory:" and "file:x" a special meaning.
                let path = path.hasPrefix("/") ? path : "./" + path
                target = try Self.isStore(path) ? .store(StoreFile(path)) : .file(path)
            }
        }

        private static func isStore(_ path: String) throws -> Bool {
            if StoreFile.isStore(path) { return true }
            // If the first writer of a store was killed, the write-ahead log contains the application id, but not yet
            // the file.
            guard StoreFile.hasLog(path), !StoreFile.lacksIndex(path), !StoreFile.isEmptyOrMissing(path),
                let database = try? open(path, SQLITE_OPEN_READONLY)
            else { return false }
            defer { database.close() }
            storage_disable_checkpoint_on_close(database.handle)
            return integer("PRAGMA application_id", database) == StoreFile.applicationID
        }

        private static func open(_ name: String, _ flags: Int32) throws -> Connection {
            var opened: OpaquePointer?
            // SQLite needs no mutex: a connection's jobs run one at a time.
            let code = sqlite3_open_v2(name, &opened, flags | SQLITE_OPEN_NOMUTEX, nil)
            guard code == SQLITE_OK, let opened else {
                let message = opened.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
                sqlite3_close_v2(opened)
                throw SQLiteClientError.sqlite(code, "\(message), \(name)", sql: nil)
            }
            sqlite3_extended_result_codes(opened, 1)
            return Connection(opened)
        }

        /// Opens and configures it.
        func open() throws -> Connection {
            let database: Connection
            switch target {
            case .memory: database = try Self.open(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
            case .file(let path):
                let flags =
                    configuration.isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                database = try Self.open(path, flags)
            case .store(let file):
                // A writer that opens the store creates one right after the other.
                if file.access == .writeAheadLog, StoreFile.lacksIndex(file.path) {
                    throw SQLiteClientError.noIndex(file.path)
                }
                database = try Self.open(file.uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
            }
            do {
                try setUp(database)
                return database
            } catch {
                database.close()
                throw error
            }
        }

        private func setUp(_ database: Connection) throws {
            database.setForeignKeysEnabled(configuration.enforcesForeignKeys)
            if case .store = target { storage_disable_checkpoint_on_close(database.handle) }
            // Verifies that it is a database, and loads the schema.
            try Self.run("SELECT count(*) FROM sqlite_schema", database)
            guard case .file = target, !configuration.isReadOnly else { return }
            try Self.run("PRAGMA synchronous = \(configuration.synchronous.rawValue)", database)
            if configuration.journal == .writeAheadLog { try Self.run("PRAGMA journal_mode = WAL", database) }
        }

        private static func run(_ sql: String, _ database: Connection) throws {
            let code = sqlite3_exec(database.handle, sql, nil, nil, nil)
            guard code == SQLITE_OK else {
                throw SQLiteClientError.sqlite(code, database.errorMessage, sql: sql)
            }
        }

        private static func integer(_ sql: String, _ database: Connection) -> Int64? {
            var statement: OpaquePointer?
            defer { sqlite3_finalize(statement) }
            guard sqlite3_prepare_v2(database.handle, sql, -1, &statement, nil) == SQLITE_OK,
                sqlite3_step(statement) == SQLITE_ROW
            else { return nil }
            return sqlite3_column_int64(statement, 0)
        }
    }
#endif
