#if SQLITE_ENGINE_SQLITENIO
    internal import NIOPosix
    public import StorageSQLiteClient
    internal import Synchronization

    extension SQLiteClient {
        /// Returns the client of a pool of the SwiftNIO engine.
        ///
        /// An asynchronous body holds a connection, but doesn't block a thread while it waits. Inside it,
        /// `\.defaultSQLiteConnection` is that connection, and the pool itself throws `invalid-argument`, as it would
        /// wait for the body.
        public static func nio(_ pool: SQLiteConnectionPool) -> SQLiteClient {
            var client = SQLiteClient(
                read: { body in try await pool.read(body) }, write: { body in try await pool.write(body) },
                observeTables: { try await pool.writer.tableChanges($0) })
            client.identity = { pool }
            client.holding = { kind, body in
                switch kind {
                case .read: try await pool.read { try await body(LentConnection(connection: $0)) }
                case .write: try await pool.write { try await body(LentConnection(connection: $0)) }
                }
            }
            return client
        }

        /// Returns the client of one connection of the SwiftNIO engine, which reads and writes in turn.
        ///
        /// Inside an asynchronous body, `\.defaultSQLiteConnection` is this connection in its transaction, and the
        /// outer one throws `invalid-argument`, as it would wait for the body.
        public static func nio(_ connection: SQLiteConnection) -> SQLiteClient {
            .nio(identity: { connection.engine }) { connection }
        }

        /// The client of the current `\.defaultSQLiteConnection`, looked up on each call.
        public static var nio: SQLiteClient {
            .nio(identity: { DependencyValues.connection.engine }) { DependencyValues.connection }
        }

        /// The client of a new in-memory database, which is opened by the first call and lives as long as the client.
        static func nioInMemory() -> SQLiteClient {
            let memory = MemoryConnection()
            var client = SQLiteClient.nio(identity: { memory }) { try await memory.connection }
            client.contextSensitivePath = { nil }
            return client
        }

        private static func nio(
            identity: @escaping @Sendable () -> Identity,
            _ connection: @escaping @Sendable () async throws -> SQLiteConnection
        ) -> SQLiteClient {
            var client = SQLiteClient(
                read: { body in try await connection().withTransaction(.read, body) },
                write: { body in try await connection().withTransaction(.write, body) },
                observeTables: { try await connection().tableChanges($0) })
            client.identity = identity
            client.holding = { kind, body in
                try await connection().transaction(kind == .read ? .read : .write) {
                    try await body(LentConnection(connection: $0))
                }
            }
            return client
        }

        #if !SQLITE_ENGINE_GRDB
            /// The engine chosen by the package's traits.
            public static var live: SQLiteClient { .nio }
            /// A new in-memory database, created when this is read.
            public static var test: SQLiteClient { .inMemory() }
            /// A new in-memory database, created when this is read.
            public static var preview: SQLiteClient { .inMemory() }
            /// Returns the client of a new in-memory database, which is opened by the first call and lives as long as
            /// the client.
            public static func inMemory() -> SQLiteClient { nioInMemory() }
        #endif
    }

    extension DependencyValues {
        /// The connection of ``SQLiteClient/nio``.
        ///
        /// ```swift
        /// let connection = try await SQLiteConnection.open(storage: .file(path: path))
        /// prepareDependencies { $0.defaultSQLiteConnection = connection }
        /// ```
        ///
        /// Inside the asynchronous bodies of `client.read` and `client.write` it is the connection of their open
        /// transaction. If the SwiftNIO engine is the only one, `\.sqliteClient` uses it too, unless another client was
        /// set.
        public var defaultSQLiteConnection: SQLiteConnection {
            get { self[DefaultConnectionKey.self] }
            set {
                #if !SQLITE_ENGINE_GRDB
                    // This connection, and not that of the task that uses the client: the two may differ.
                    let known = self[DefaultConnectionKey.self].engine
                    if !holds(SQLiteClientKey.self) || self[SQLiteClientKey.self].identity() === known {
                        self[SQLiteClientKey.self] = .nio(newValue)
                    }
                #endif
                self[DefaultConnectionKey.self] = newValue
            }
        }

        fileprivate enum DefaultConnectionKey: DependencyKey {
            static let liveValue = SQLiteConnection.missing
        }

        fileprivate static var connection: SQLiteConnection {
            @Dependency(\.defaultSQLiteConnection) var connection
            return connection
        }
    }

    /// The connection of a transaction's body, lent to a client's body.
    private struct LentConnection: HeldConnection {
        let connection: SQLiteConnection

        func run<Result: Sendable>(
            _ body: @escaping @Sendable (SQLiteTransaction) throws -> Result
        ) async throws -> Result { try await connection.withTransaction(.write, body) }

        func nested(_ body: @escaping @Sendable (any HeldConnection) async throws -> Void) async throws {
            try await connection.transaction { try await body(LentConnection(connection: $0)) }
        }

        func scoped<Result>(
            isolation: isolated (any Actor)?, _ body: () async throws -> Result
        ) async throws -> Result {
            // The body's task isn't the transaction's, but waits for it as well.
            try await ConnectionScope.$entered.withValue(ConnectionScope.entered + [connection.scope]) {
                try await withDependencies {
                    $0[DependencyValues.DefaultConnectionKey.self] = connection
                } operation: {
                    try await body()
                }
            }
        }
    }

    /// An in-memory database that the first call opens.
    ///
    /// Isolation: `Sendable`, its state behind a mutex.
    private final class MemoryConnection: Sendable {
        private let opening = Mutex<Task<SQLiteConnection, any Error>?>(nil)

        var connection: SQLiteConnection {
            get async throws {
                let task = opening.withLock { opening in
                    if let opening { return opening }
                    // A task of its own: the first caller may be cancelled, and others wait for it, too.
                    let task = Task { try await SQLiteConnection.open() }
                    opening = task
                    return task
                }
                return try await task.value
            }
        }
    }

    extension SQLiteConnection {
        /// The placeholder for a connection that wasn't set.
        fileprivate static let missing: SQLiteConnection = {
            let engine = ConnectionEngine(
                storage: .memory, configuration: .init(), thread: EngineThread(.singleton))
            let scope = ConnectionScope(
                refusing: SQLiteClientError(
                    .missingDependency, "No connection was given.",
                    remedy:
                        "Call `await prepareDependencies { $0.defaultSQLiteConnection = … }` where the program begins, "
                        + "or `withDependencies` around a test."))
            return SQLiteConnection(
                engine, scope: scope, poller: CommitPoller(engine, scope, version: 0, storePath: nil))
        }()

        /// Adapts ``observeTables(_:)`` for a client.
        fileprivate func tableChanges(_ tables: Set<String>) async throws -> SQLiteTableChanges {
            // Throws if the connection is closed, or was never set.
            try await scope.enter()
            scope.leave()
            let changes = observeTables(tables)
            let sink = SQLiteTableChanges.Sink()
            let task = Task {
                for await tables in changes { sink.send(tables) }
                sink.finish()
            }
            return SQLiteTableChanges(sink) { task.cancel() }
        }
    }
#endif
