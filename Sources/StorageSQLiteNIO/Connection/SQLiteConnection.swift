#if SQLITE_ENGINE_SQLITENIO
    public import NIOPosix
    internal import StorageSQLiteClient

    /// A connection to an SQLite database, for programs based on SwiftNIO's event loops.
    ///
    /// ```swift
    /// let connection = try await SQLiteConnection.open(storage: .memory)
    /// try await connection.execute("CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL)")
    /// try await connection.execute("INSERT INTO users (name) VALUES (?)", ["Ada"])
    /// let names = try await connection.query("SELECT name FROM users").map { try $0.value(String.self, "name") }
    /// try await connection.close()
    /// ```
    ///
    /// - All SQLite calls run on a thread of an `NIOThreadPool`, one at a time. No thread waits for another
    ///   connection's lock, and SQLite never runs on an event loop.
    /// - Calls are served in order. While a transaction's body runs, or a stream of rows is open, calls by others wait.
    ///   A call that would wait for its own caller throws `invalid-argument`.
    /// - Cancelling a task interrupts only its own statement, which throws `cancelled`.
    /// - The file of a StorageKit store is only read. No file beside it is created or changed.
    /// - A connection closes itself when its last reference is released.
    ///
    /// The bodies of transactions also receive a `SQLiteConnection`: the same one, inside the transaction.
    public final class SQLiteConnection: Sendable {
        /// The location of the database.
        public typealias Storage = SQLiteStorage

        let engine: ConnectionEngine
        let scope: ConnectionScope
        let poller: CommitPoller

        init(_ engine: ConnectionEngine, scope: ConnectionScope, poller: CommitPoller) {
            self.engine = engine
            self.scope = scope
            self.poller = poller
        }

        /// Opens a connection.
        ///
        /// - Parameter threadPool: The threads that run SQLite. The pool must be running until the connection is
        ///   closed.
        /// - Throws: ``SQLiteClientError``: `io-error` if the file can't be opened, `corrupt` if it isn't a database,
        ///   `busy`.
        public static func open(
            storage: Storage = .memory, configuration: SQLiteConnectionConfiguration = .init(),
            threadPool: NIOThreadPool = .singleton
        ) async throws -> SQLiteConnection {
            try await open(storage: storage, configuration: configuration, thread: EngineThread(threadPool))
        }

        static func open(
            storage: Storage, configuration: SQLiteConnectionConfiguration, thread: EngineThread,
            pool: ObjectIdentifier? = nil
        ) async throws -> SQLiteConnection {
            let engine = ConnectionEngine(storage: storage, configuration: configuration, thread: thread)
            try await engine.open()
            let (version, store) = try await engine.runToTheEnd { (try $0.dataVersion(), $0.store?.path) }
            let scope = ConnectionScope(.connection, pool: pool, maximumWaiters: configuration.maximumWaiters)
            return SQLiteConnection(
                engine, scope: scope, poller: CommitPoller(engine, scope, version: version, storePath: store))
        }

        /// Closes the connection after all earlier calls. Streams of rows end with an error. Later calls throw
        /// `closed`; closing again has no effect.
        ///
        /// - Throws: ``SQLiteClientError`` with `invalid-argument` inside a transaction's body.
        public func close() async throws {
            guard scope.isConnection else {
                throw SQLiteClientError(
                    .invalidArgument, "A transaction's body closes the connection.",
                    remedy: "Close it after the transaction.")
            }
            try scope.checkMayEnd()
            await scope.end(waitersMayFinish: true) { await engine.closeCursor($0) }
            poller.end()
            await engine.close()
        }

        /// What statements may do here.
        var policy: Database.Policy {
            switch scope.kind {
            case .connection: .autocommit
            case .body(_, let policy): policy
            }
        }
    }
#endif
