#if SQLITE_ENGINE_GRDB
    internal import GRDB

    extension SQLiteClient {
        /// The client of the current `\.defaultDatabase`, looked up on each call.
        public static var grdb: SQLiteClient {
            .grdb {
                @Dependency(\.defaultDatabase) var database
                return database
            }
        }

        /// Returns the client of a GRDB queue or pool, or of a store.
        ///
        /// A queue or pool keeps its own settings; see its configuration for durability and busy handling. One that
        /// opens a store's file can only read: its writes would bypass the log, and throw `read-only`.
        public static func grdb(_ database: any SQLiteDatabase) -> SQLiteClient {
            let database = GRDBDatabase.wrapping(database)
            return .grdb { database }
        }

        /// Returns the client of a new in-memory database, which lives as long as the client.
        public static func inMemory() -> SQLiteClient {
            do {
                var client = SQLiteClient.grdb(try DatabaseQueue())
                client.contextSensitivePath = { nil }
                return client
            } catch {
                return .unimplemented(
                    "An in-memory database can't be opened: \(error).", remedy: "Close other programs, and try again.")
            }
        }

        private static func grdb(_ database: @escaping @Sendable () -> any SQLiteDatabase) -> SQLiteClient {
            var client = SQLiteClient(
                read: { body in
                    try await typed { try await database().read { try body(SQLiteTransaction($0)) } }
                },
                write: { body in
                    try await typed { try await database().write { try body(SQLiteTransaction($0)) } }
                },
                observeTables: { tables in try await typed { try await database().observeTables(tables) } })
            let own = client.identity
            client.identity = { (database() as? any IdentifiedDatabase)?.identity ?? own() }
            return client
        }

        /// Converts GRDB's errors, such as a lock timeout, to those of the client.
        private static func typed<Result>(_ body: () async throws -> Result) async throws -> Result {
            do { return try await body() } catch let error as DatabaseError {
                throw SQLiteClientError(error, sql: nil)
            }
        }
    }
#endif
