#if SQLITE_ENGINE_SQLITENIO
    internal import NIOPosix
    public import StorageSQLiteClient

    extension SQLiteClient {
        /// The client of a pool of the SwiftNIO engine.
        ///
        /// Bodies run on a thread of the pool's. For asynchronous ones, which don't hold a thread while they wait, use the
        /// pool itself.
        public static func nio(_ pool: SQLiteConnectionPool) -> SQLiteClient {
            SQLiteClient(
                read: { body in try await pool.read(body) }, write: { body in try await pool.write(body) },
                observeTables: { try await pool.tableChanges($0) })
        }

        /// The client of one connection of the SwiftNIO engine, which reads and writes in turn.
        public static func nio(_ connection: SQLiteConnection) -> SQLiteClient {
            SQLiteClient(
                read: { body in try await connection.withTransaction(.read, body) },
                write: { body in try await connection.withTransaction(.write, body) },
                observeTables: { try await connection.tableChanges($0) })
        }

        /// The client of `\.defaultSQLiteConnection`, whatever that is at each call.
        public static var nio: SQLiteClient {
            SQLiteClient(
                read: { body in try await DependencyValues.connection.withTransaction(.read, body) },
                write: { body in try await DependencyValues.connection.withTransaction(.write, body) },
                observeTables: { try await DependencyValues.connection.tableChanges($0) })
        }

        #if !SQLITE_ENGINE_GRDB
            /// The engine that the package's traits choose.
            public static var live: SQLiteClient { .nio }
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
        /// Where the SwiftNIO engine is the only one, `\.sqliteClient` works on it too, unless another client was given.
        public var defaultSQLiteConnection: SQLiteConnection {
            get { self[DefaultConnectionKey.self] }
            set {
                self[DefaultConnectionKey.self] = newValue
                #if !SQLITE_ENGINE_GRDB
                    if !holds(SQLiteClientKey.self) { self[SQLiteClientKey.self] = .nio }
                #endif
            }
        }

        private enum DefaultConnectionKey: DependencyKey {
            static let liveValue = SQLiteConnection.missing
        }

        fileprivate static var connection: SQLiteConnection {
            @Dependency(\.defaultSQLiteConnection) var connection
            return connection
        }
    }

    extension SQLiteConnection {
        /// Stands where no connection was given.
        fileprivate static let missing: SQLiteConnection = {
            let engine = ConnectionEngine(.memory, .init(), EngineThread(.singleton))
            let scope = Scope(
                refusing: SQLiteClientError(
                    .missingDependency, "No connection was given.",
                    remedy:
                        "Say `await prepareDependencies { $0.defaultSQLiteConnection = … }` where the program begins, "
                        + "or `withDependencies` around a test."))
            return SQLiteConnection(engine, scope, Lookout(engine, scope, version: 0, storePath: nil))
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

    extension SQLiteConnectionPool {
        fileprivate func tableChanges(_ tables: Set<String>) async throws -> SQLiteTableChanges {
            try await writer.tableChanges(tables)
        }
    }
#endif
