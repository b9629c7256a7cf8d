#if SQLITE_ENGINE_SQLITENIO
    public import NIOPosix
    internal import StorageSQLiteClient

    /// A connection to an SQLite database, for programs that live on SwiftNIO's event loops.
    ///
    /// ```swift
    /// let connection = try await SQLiteConnection.open(storage: .memory)
    /// try await connection.execute("CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL)")
    /// try await connection.execute("INSERT INTO users (name) VALUES (?)", ["Ada"])
    /// let names = try await connection.query("SELECT name FROM users").map { try $0.value(String.self, "name") }
    /// try await connection.close()
    /// ```
    ///
    /// - Every call of SQLite runs on a thread of an `NIOThreadPool`, one at a time. No thread waits for another
    ///   connection's lock, and none of an event loop ever runs SQLite.
    /// - Calls are served in the order in which they come. While a transaction's body runs, or a stream of rows is open,
    ///   calls of others wait. A call that would wait for its own caller throws `invalid-argument`.
    /// - Cancelling the task interrupts its statement, and no other. It throws `cancelled`.
    /// - The file of a StorageKit store is only read. Nothing beside it is made or changed.
    /// - A connection that nobody holds any more closes itself.
    ///
    /// What transactions give to their bodies is a `SQLiteConnection`, too: the same one, inside of the transaction.
    public final class SQLiteConnection: Sendable {
        /// Where the database is.
        public typealias Storage = SQLiteStorage

        let engine: ConnectionEngine
        let scope: Scope
        let lookout: Lookout

        init(_ engine: ConnectionEngine, scope: Scope, lookout: Lookout) {
            self.engine = engine
            self.scope = scope
            self.lookout = lookout
        }

        /// Opens a connection.
        ///
        /// - Parameter threadPool: Where SQLite runs. It must be running until the connection is closed.
        /// - Throws: ``SQLiteClientError``: `io-error` where the file can't be opened, `corrupt` where it isn't a
        ///   database, `busy`.
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
            let scope = Scope(.connection, pool: pool, maximumWaiters: configuration.maximumWaiters)
            return SQLiteConnection(
                engine, scope: scope, lookout: Lookout(engine, scope, version: version, storePath: store))
        }

        /// Closes the connection after all calls that were made before. Streams of rows end with an error. Calls from now
        /// on throw `closed`; closing again does nothing.
        ///
        /// - Throws: `invalid-argument` inside of a transaction's body.
        public func close() async throws {
            guard scope.isConnection else {
                throw SQLiteClientError(
                    .invalidArgument, "A transaction's body closes the connection.",
                    remedy: "Close it after the transaction.")
            }
            try scope.checkMayEnd()
            await scope.end(waitersMayFinish: true) { await engine.closeCursor($0) }
            lookout.end()
            await engine.close()
        }

        /// What statements may do here.
        var policy: Database.Policy {
            switch scope.kind {
            case .connection: .alone
            case .body(_, let policy): policy
            }
        }
    }
#endif
