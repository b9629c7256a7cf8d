import StorageSQLiteClient
import StorageSQLiteNIO
import Testing

#if SQLITE_ENGINE_GRDB
    import GRDB
#endif

#if SQLITE_ENGINE_GRDB || SQLITE_ENGINE_SQLITENIO
    /// What the package's traits choose: GRDB where it is enabled, else the SwiftNIO engine.
    struct LiveClientTests {
        /// Runs a body with a database for the live client.
        private func withLiveDatabase(_ body: () async throws -> Void) async throws {
            #if SQLITE_ENGINE_GRDB
                let queue = try DatabaseQueue()
                try await withDependencies {
                    $0.defaultDatabase = queue
                } operation: {
                    try await body()
                }
            #else
                let connection = try await SQLiteConnection.open()
                try await withDependencies {
                    $0.defaultSQLiteConnection = connection
                } operation: {
                    try await body()
                }
                try await connection.close()
            #endif
        }

        private func works(_ client: SQLiteClient) async throws {
            try await client.write { db in _ = try db.execute("CREATE TABLE users (id INTEGER PRIMARY KEY)") }
            var changes = try await client.observeTables(["users"]).makeAsyncIterator()
            try await client.write {
                @Dependency(\.sqliteClient) var same
                try await same.write { db in _ = try db.execute("INSERT INTO users (id) VALUES (1)") }
                let inside = try await client.read { db in try db.fetchOne("SELECT count(*) FROM users", as: Int.self) }
                #expect(inside == 1)
            }
            #expect(try await changes.next() == ["users"])
        }

        @Test("The live client works on the task's database")
        func liveClient() async throws {
            try await withLiveDatabase {
                try await works(.live)
                // The one that is injected is that one.
                @Dependency(\.sqliteClient) var client
                #expect(try await client.read { try $0.fetchAll("SELECT id FROM users", as: Int.self) } == [1])
                @FetchOne("SELECT count(*) FROM users") var count = 0
                try await $count.load()
                #expect(count == 1)
            }
        }

        /// As the reference writes it: a body takes the database of the engine that is enabled.
        @Test("Bodies use the database of their engine")
        func bodiesUseDatabaseOfEngine() async throws {
            try await withLiveDatabase {
                @Dependency(\.sqliteClient) var client
                try await client.write { db in _ = try db.execute("CREATE TABLE users (id INTEGER PRIMARY KEY)") }
                try await client.write {
                    #if SQLITE_ENGINE_GRDB
                        @Dependency(\.defaultDatabase) var database
                        try await database.write { db in try db.execute(sql: "INSERT INTO users (id) VALUES (7)") }
                    #elseif SQLITE_ENGINE_SQLITENIO
                        @Dependency(\.defaultSQLiteConnection) var connection
                        try await connection.execute("INSERT INTO users (id) VALUES (7)")
                    #endif
                }
                let ids = try await client.read {
                    #if SQLITE_ENGINE_GRDB
                        @Dependency(\.defaultDatabase) var database
                        return try await database.read { db in try Int.fetchAll(db, sql: "SELECT id FROM users") }
                    #elseif SQLITE_ENGINE_SQLITENIO
                        @Dependency(\.defaultSQLiteConnection) var connection
                        return try await connection.query("SELECT id FROM users", as: Int.self)
                    #endif
                }
                #expect(ids == [7])
            }
        }

        @Test("Tests and previews have a database of their own", arguments: [true, false])
        func testAndPreviewDatabases(_ isTest: Bool) async throws {
            let (one, other): (SQLiteClient, SQLiteClient) = isTest ? (.test, .test) : (.preview, .preview)
            try await works(one)
            try await works(other)
            #expect(try one.contextSensitivePath() == nil)
        }
    }
#endif
