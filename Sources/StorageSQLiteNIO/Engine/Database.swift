#if SQLITE_ENGINE_SQLITENIO
    internal import CSQLite
    internal import StorageCore
    internal import StorageRecords
    internal import StorageSQLiteClient

    /// An open connection as its jobs see it: SQLite's handle, prepared statements, open streams, and the changes of
    /// the transaction.
    ///
    /// Sound as `@unchecked Sendable`: its members are only used by jobs that ``ConnectionEngine`` sends to the thread
    /// pool. Jobs are sent by the holder of the connection's turn, so one runs at a time, and passing the turn on
    /// synchronizes memory.
    final class Database: @unchecked Sendable {
        private enum State {
            case closed
            case open(Connection, target: ConnectionOpening.Target)
        }

        private let storage: SQLiteStorage
        let configuration: SQLiteConnectionConfiguration
        private var state = State.closed
        let watch = StatementWatch()
        var cache: LeastRecentlyUsed<ExactText, CompiledStatement>
        var cursors: [Int: Cursor] = [:]
        var tracker = ChangeTracker()
        /// Receives the changes of each commit, right after it.
        let observation: TableObservation

        /// Longer texts aren't cached with their statements.
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
            let opening = try ConnectionOpening(storage, configuration)
            let connection = try opening.open()
            // If it was open before, it stays so if opening fails.
            close()
            watch.install(on: connection)
            state = .open(connection, target: opening.target)
        }

        func close() {
            guard case .open(let connection, _) = state else { return }
            cursors = [:]
            cache.removeAll()
            // An open transaction is rolled back.
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

        /// Reopens a store that was opened as one without a writer if it has a writer now, or the other way round.
        ///
        /// - Returns: Whether it was needed.
        @discardableResult
        func refresh() throws -> Bool {
            guard let store, store.isOutdated, cursors.isEmpty, try !isInTransaction else { return false }
            try open()
            return true
        }

        /// Whether reads may have mixed two states of a store: a writer has opened it meanwhile.
        var isDisturbed: Bool {
            guard let store else { return false }
            return store.access == .resting && store.isOutdated
        }
    }

    // MARK: Jobs

    extension Database {
        /// Runs a job's work, which cancellation may interrupt.
        func run<Result>(_ job: Job, _ body: (Database) throws -> Result) throws -> Result {
            let connection = try connection
            try job.begin(on: connection)
            watch.job = job
            defer { endJob() }
            return try body(self)
        }

        /// Protects the rest of the job from cancellation.
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

        /// A number that changes with each commit by others.
        func dataVersion() throws -> Int64 {
            var version: Int64 = 0
            try execute("PRAGMA data_version", .none, policy: .autocommit) { row in
                version = try row.reader.integer(at: 0)
                return true
            }
            return version
        }

        /// How long SQLite itself waits for a lock, blocking the thread.
        func setBlockingBusyTimeout(_ timeout: Duration) throws {
            let (seconds, attoseconds) = min(max(timeout, .zero), .milliseconds(Int32.max)).components
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
