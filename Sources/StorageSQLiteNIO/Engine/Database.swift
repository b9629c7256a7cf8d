#if SQLITE_ENGINE_SQLITENIO
    internal import CSQLite
    internal import StorageCore
    internal import StorageRecords
    internal import StorageSQLiteClient

    /// An open connection as its jobs see it: SQLite's handle, prepared statements, open streams, and what the transaction
    /// has changed.
    ///
    /// Sound as `@unchecked Sendable`: its members are only touched by jobs that ``ConnectionEngine`` sends to the thread
    /// pool. They come from whoever holds the turn of the connection, so one runs at a time, and passing the turn on orders
    /// them in memory.
    final class Database: @unchecked Sendable {
        private enum State {
            case closed
            case open(Connection, Opening.Target)
        }

        private let storage: SQLiteStorage
        let configuration: SQLiteConnectionConfiguration
        private var state = State.closed
        let watch = StatementWatch()
        var cache: LeastRecentlyUsed<ExactText, CompiledStatement>
        var cursors: [Int: Cursor] = [:]
        var tracker = ChangeTracker()
        /// Told what a commit has changed, right after it.
        let observation: TableObservation

        /// Texts longer than this aren't kept with their statements.
        static let longestCachedText = 64 << 10

        init(
            storage: SQLiteStorage, configuration: SQLiteConnectionConfiguration, observation: TableObservation
        ) {
            self.storage = storage
            self.configuration = configuration
            self.observation = observation
            cache = LeastRecentlyUsed(capacity: configuration.statementCacheSize)
        }

        deinit { close() }
    }

    // MARK: Opening and closing

    extension Database {
        func open() throws {
            let opening = try Opening(storage, configuration)
            let connection = try opening.open()
            // Where it was open before, it stays so if that fails.
            close()
            watch.install(on: connection)
            state = .open(connection, opening.target)
        }

        func close() {
            guard case .open(let connection, _) = state else { return }
            cursors = [:]
            cache.removeAll()
            // Whatever transaction is open is undone.
            connection.close()
            state = .closed
        }

        /// - Throws: `closed`.
        var connection: Connection {
            get throws(SQLiteClientError) {
                guard case .open(let connection, _) = state else { throw .closed }
                return connection
            }
        }

        var store: StoreFile? {
            if case .open(_, .store(let file)) = state { file } else { nil }
        }

        /// Opens a store again that was opened as nobody's while somebody has come to write to it, or the other way round.
        ///
        /// - Returns: Whether it was needed.
        @discardableResult
        func refresh() throws -> Bool {
            guard let store, store.isOutdated, cursors.isEmpty, try !isInTransaction else { return false }
            try open()
            return true
        }

        /// Whether what was read may be half of one state of a store and half of another: a writer has come meanwhile.
        var isDisturbed: Bool {
            guard let store else { return false }
            return store.access == .resting && store.isOutdated
        }
    }

    // MARK: Jobs

    extension Database {
        /// Runs a job's work, which a cancellation may interrupt.
        func run<Result>(_ job: Job, _ body: (Database) throws -> Result) throws -> Result {
            let connection = try connection
            try job.begin(on: connection)
            watch.job = job
            defer { endJob() }
            return try body(self)
        }

        /// Whatever comes in the job from here on, a cancellation doesn't interrupt it.
        ///
        /// - Returns: Whether it wasn't cancelled.
        @discardableResult
        func endJob() -> Bool {
            defer { watch.job = nil }
            return watch.job?.end() ?? true
        }

        var isInTransaction: Bool {
            get throws(SQLiteClientError) { try sqlite3_get_autocommit(connection.handle) == 0 }
        }

        var isReadOnly: Bool {
            get throws(SQLiteClientError) { try sqlite3_db_readonly(connection.handle, "main") == 1 }
        }

        /// A number that is another one after a commit of somebody else.
        func dataVersion() throws -> Int64 {
            var version: Int64 = 0
            try execute("PRAGMA data_version", .none, policy: .alone) { row in
                version = try row.reader.integer(at: 0)
                return true
            }
            return version
        }

        /// How long SQLite itself waits for a lock, on the thread.
        func setBlockingBusyTimeout(_ timeout: Duration) throws {
            let (seconds, attoseconds) = timeout.components
            let milliseconds = seconds * 1_000 + attoseconds / 1_000_000_000_000_000
            sqlite3_busy_timeout(try connection.handle, Int32(clamping: milliseconds))
        }

        var cachedStatementCount: Int { cache.count }
        var openCursorCount: Int { cursors.count }
        var lastInsertedRowID: Int64 { get throws { try sqlite3_last_insert_rowid(connection.handle) } }

        func error(_ code: Int32, sql: String?) -> SQLiteClientError {
            guard case .open(let connection, let target) = state else { return .closed }
            let message = connection.errorMessage
            if code & 0xFF == SQLITE_READONLY, case .store(let file) = target {
                return .store(at: file.path, resultCode: code, refusing: message)
            }
            return .sqlite(code, message, sql: sql)
        }
    }
#endif
