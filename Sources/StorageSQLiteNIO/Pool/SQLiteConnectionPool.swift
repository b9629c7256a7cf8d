#if SQLITE_ENGINE_SQLITENIO
    public import NIOPosix
    public import StorageSQLiteClient

    /// Connections to one database: one that writes, and several that read concurrently.
    ///
    /// ```swift
    /// let pool = try await SQLiteConnectionPool.open(storage: .file(path: "app.sqlite"))
    /// try await pool.write { db in try db.execute("INSERT INTO users (name) VALUES (?)", ["Ada"]) }
    /// let rows = try await pool.read { connection in try await connection.query("SELECT * FROM users") }
    /// try await pool.close()
    /// ```
    ///
    /// - The file has a write-ahead log: readers and the writer don't wait for each other. An in-memory database has
    ///   one connection, which reads and writes in turn.
    /// - Each body runs in one transaction: a reading one sees a single state of the database, a writing one is atomic.
    /// - Bodies wait for a connection in order. A cancelled task leaves the queue.
    /// - Inside a body the pool throws `invalid-argument`, because the body could wait for itself: use the connection
    ///   that it receives.
    /// - The file of a StorageKit store is only read.
    public final class SQLiteConnectionPool: Sendable {
        /// Writes, and observes commits. Also reads, if there are no other connections.
        let writer: SQLiteConnection
        private let readers: Readers
        private let configuration: SQLiteConnectionConfiguration
        private let identity = Identity()

        private enum Readers {
            case writer
            case own([SQLiteConnection], queue: ResourceQueue<SQLiteConnection>)
        }

        /// Identifies the pool for its bodies. The pool retains it, so it is unique.
        private final class Identity: Sendable {}

        private init(
            storage: SQLiteConnection.Storage, configuration: SQLiteConnectionConfiguration, thread: EngineThread
        ) async throws {
            var configuration = configuration
            configuration.journal = .writeAheadLog
            self.configuration = configuration
            let pool = ObjectIdentifier(identity)
            // First, since it creates the file and the write-ahead log.
            writer = try await .open(storage: storage, configuration: configuration, thread: thread, pool: pool)
            guard storage != .memory else {
                readers = .writer
                return
            }
            configuration.isReadOnly = true
            var connections: [SQLiteConnection] = []
            for _ in 0..<configuration.maximumReaders {
                connections.append(
                    try await .open(storage: storage, configuration: configuration, thread: thread, pool: pool))
            }
            readers = .own(
                connections,
                queue: ResourceQueue(connections, maximumWaiters: configuration.maximumWaiters, closedError: .closed))
        }

        /// Opens the connections.
        ///
        /// - Parameters:
        ///   - configuration: The settings of all connections; `maximumReaders` is the number of reading ones.
        ///   - threadPool: The threads that run SQLite. The pool must be running until this one is closed.
        /// - Throws: As ``SQLiteConnection/open(storage:configuration:threadPool:)``.
        public static func open(
            storage: SQLiteConnection.Storage, configuration: SQLiteConnectionConfiguration = .init(),
            threadPool: NIOThreadPool = .singleton
        ) async throws -> SQLiteConnectionPool {
            try await SQLiteConnectionPool(
                storage: storage, configuration: configuration, thread: EngineThread(threadPool))
        }

        /// Waits for all earlier bodies, then closes the connections. Later calls throw `closed`; closing again has no
        /// effect.
        ///
        /// - Throws: ``SQLiteClientError`` with `invalid-argument` inside a body.
        public func close() async throws {
            try checkNotInside()
            if case .own(let connections, let queue) = readers {
                await queue.close(waitersMayFinish: true)
                for connection in connections { try await connection.close() }
            }
            // Last, because it checkpoints the write-ahead log.
            try await writer.close()
        }
    }

    // MARK: Reading and writing

    extension SQLiteConnectionPool {
        /// Runs a body that reads a single state of the database.
        ///
        /// - Throws: Errors of the body; ``SQLiteClientError``: `read-only` if it changes something, `busy` if too many
        ///   calls are waiting, `cancelled`, `closed`, `invalid-argument` inside a body.
        @discardableResult
        public func read<Result>(
            isolation: isolated (any Actor)? = #isolation, _ body: (SQLiteConnection) async throws -> Result
        ) async throws -> Result {
            try await withReader { try await $0.transaction(.read, body) }
        }

        /// Runs a synchronous body that reads a single state of the database, on a thread of the thread pool.
        ///
        /// - Throws: As ``read(isolation:_:)``.
        @discardableResult
        public func read<Result: Sendable>(_ body: @escaping @Sendable (SQLiteTransaction) throws -> Result)
            async throws
            -> Result
        {
            try await withReader { try await $0.withTransaction(.read, body) }
        }

        /// Runs a body that reads and writes, while no other does. Its changes are rolled back if it throws or its task
        /// is cancelled.
        ///
        /// - Throws: Errors of the body; ``SQLiteClientError``: `read-only` if the pool only reads, `busy`,
        ///   `cancelled`, `closed`, `constraint` if the commit violates one, `invalid-argument` inside a body.
        @discardableResult
        public func write<Result>(
            isolation: isolated (any Actor)? = #isolation, _ body: (SQLiteConnection) async throws -> Result
        ) async throws -> Result {
            try checkNotInside()
            return try await writer.transaction(.write, body)
        }

        /// Runs a synchronous body that reads and writes, on a thread of the thread pool.
        ///
        /// - Throws: As ``write(isolation:_:)``.
        @discardableResult
        public func write<Result: Sendable>(_ body: @escaping @Sendable (SQLiteTransaction) throws -> Result)
            async throws
            -> Result
        {
            try checkNotInside()
            return try await writer.withTransaction(.write, body)
        }

        /// Observes which of these tables later commits change. See
        /// ``SQLiteConnection/observeTables(_:)``.
        public func observeTables(_ tables: Set<String>) -> AsyncStream<Set<String>> { writer.observeTables(tables) }

        /// Observes which rows of these tables later commits change. See
        /// ``SQLiteConnection/observeRows(_:maximumRows:)``.
        public func observeRows(_ tables: Set<String>, maximumRows: Int = 1_000) -> AsyncStream<SQLiteRowUpdates> {
            writer.observeRows(tables, maximumRows: maximumRows)
        }

        private func checkNotInside() throws { try ConnectionScope.checkNotInside(pool: ObjectIdentifier(identity)) }

        private func withReader<Result>(
            isolation: isolated (any Actor)? = #isolation, _ body: (SQLiteConnection) async throws -> Result
        ) async throws -> Result {
            try checkNotInside()
            guard case .own(_, let queue) = readers else { return try await body(writer) }
            let reader = try await queue.borrow()
            defer { queue.giveBack(reader) }
            return try await body(reader)
        }
    }
#endif
