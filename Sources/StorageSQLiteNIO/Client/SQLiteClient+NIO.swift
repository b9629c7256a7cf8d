#if SQLITE_ENGINE_SQLITENIO
    internal import NIOPosix
    public import StorageSQLiteClient
    internal import Synchronization

    extension SQLiteClient {
        /// The client of a pool of the SwiftNIO engine.
        ///
        /// A body without a parameter holds a connection, but no thread while it waits. `\.defaultSQLiteConnection` is that
        /// connection inside, and the pool itself throws `invalid-argument`, as it would wait for the body.
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

        /// The client of one connection of the SwiftNIO engine, which reads and writes in turn.
        ///
        /// In a body without a parameter `\.defaultSQLiteConnection` is this connection inside of the transaction, and the one
        /// outside throws `invalid-argument`, as it would wait for the body.
        public static func nio(_ connection: SQLiteConnection) -> SQLiteClient {
            .nio(identity: { connection.engine }) { connection }
        }

        /// The client of `\.defaultSQLiteConnection`, whatever that is at each call.
        public static var nio: SQLiteClient {
            .nio(identity: { DependencyValues.connection.engine }) { DependencyValues.connection }
        }

        /// The client of a database in memory of its own, which is opened by the first call and lives as long as the client.
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
            /// The engine that the package's traits choose.
            public static var live: SQLiteClient { .nio }
            /// A database in memory of its own, made when this is read.
            public static var test: SQLiteClient { .inMemory() }
            /// A database in memory of its own, made when this is read.
            public static var preview: SQLiteClient { .inMemory() }
            /// The client of a database in memory of its own, which is opened by the first call and lives as long as the
            /// client.
            public static func inMemory() -> SQLiteClient { nioInMemory() }
        #endif
    }

    extension DependencyValues {
        /// The connection that ``SQLiteClient/nio`` works on.
        ///
        /// ```swift
        /// let connection = try await SQLiteConnection.open(storage: .file(path: path))
        /// prepareDependencies { $0.defaultSQLiteConnection = connection }
        /// ```
        ///
        /// Inside of `client.read { … }` and `client.write { … }` without a parameter it is the connection of their open
        /// transaction. Where the SwiftNIO engine is the only one, `\.sqliteClient` works on it too, unless another client was
        /// given.
        public var defaultSQLiteConnection: SQLiteConnection {
            get { self[DefaultConnectionKey.self] }
            set {
                #if !SQLITE_ENGINE_GRDB
                    // Of this connection, and not of that of the task which uses the client: the two may differ.
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

    /// The connection of a transaction's body as it is lent to the body of a client.
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
            // The body's task is another than the transaction's, and waits for it all the same.
            try await Scope.$entered.withValue(Scope.entered + [connection.scope]) {
                try await withDependencies {
                    $0[DependencyValues.DefaultConnectionKey.self] = connection
                } operation: {
                    try await body()
                }
            }
        }
    }

    /// A database in memory that the first call opens.
    ///
    /// Isolation: `Sendable`, its state behind a mutex.
    private final class MemoryConnection: Sendable {
        private let opening = Mutex<Task<SQLiteConnection, any Error>?>(nil)

        var connection: SQLiteConnection {
            get async throws {
                let task = opening.withLock { opening in
                    if let opening { return opening }
                    // A task of its own: whoever came first may be cancelled, and others wait for it, too.
                    let task = Task { try await SQLiteConnection.open() }
                    opening = task
                    return task
                }
                return try await task.value
            }
        }
    }

    extension SQLiteConnection {
        /// Stands where no connection was given.
        fileprivate static let missing: SQLiteConnection = {
            let engine = ConnectionEngine(
                storage: .memory, configuration: .init(), thread: EngineThread(.singleton))
            let scope = Scope(
                refusing: SQLiteClientError(
                    .missingDependency, "No connection was given.",
                    remedy:
                        "Call `await prepareDependencies { $0.defaultSQLiteConnection = … }` where the program begins, "
                        + "or `withDependencies` around a test."))
            return SQLiteConnection(
                engine, scope: scope, lookout: Lookout(engine, scope, version: 0, storePath: nil))
        }()

        /// The changes of ``observeTables(_:)`` in the form of a client.
        fileprivate func tableChanges(_ tables: Set<String>) async throws -> SQLiteTableChanges {
            // A connection that is closed, or was never given, says so.
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
