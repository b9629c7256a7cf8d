#if SQLITE_ENGINE_GRDB
    import Foundation
    import GRDB
    import TestSupport
    import StorageKit
    import StorageMaintenance
    import StorageSQLiteClient
    import StorageSQLiteNIO
    import Testing

    /// A store behind the client: what is written through it is in the log, and nothing gets past it.
    struct StoreClientTests {
        private func withStore(_ body: (StorageKit.Context, _ path: String) async throws -> Void) async throws {
            let folder = try TemporaryFolder()
            let path = folder.path()
            let context = try StorageKit.start(at: URL(fileURLWithPath: path)) { schema in
                schema.migration("tables") { try $0.execute(sql: ClientConformance.sql) }
                for table in ClientConformance.tables.keys.sorted() { schema.adopt(table) }
            }
            try await body(context, path)
            #expect(try await context.facade.verify().isSound)
            try await context.facade.close()
        }

        private func events(_ storage: Storage) async throws -> [StorageEvent] {
            var events: [StorageEvent] = []
            for try await event in storage.log.events(LogQuery(tables: ["users"])) { events.append(event) }
            return events
        }

        @Test("Writes are commits with an actor")
        func writesAreCommits() async throws {
            try await withStore { context, _ in
                let storage = context.facade
                let client = storage.sqliteClient(actor: "importer", reason: "nightly")
                try await client.write { db in
                    try db.execute("INSERT INTO users (id, name) VALUES (1, 'a')")
                    try db.execute("UPDATE users SET name = ? WHERE id = ?", ["b", 1])
                }
                try await CommitContext.$actor.withValue("anna") {
                    try await storage.sqliteClient.write { db in _ = try db.execute("DELETE FROM users WHERE id = 1") }
                    // A body that asks for its connection keeps the task's actor, too.
                    try await storage.sqliteClient.write {
                        @Dependency(\.sqliteClient) var client
                        try await client.write { db in _ = try db.execute("INSERT INTO users (id) VALUES (2)") }
                        try await client.write { db in _ = try db.execute("INSERT INTO users (id) VALUES (3)") }
                    }
                }
                let events = try await events(storage)
                #expect(events.map(\.operation) == [.insert, .update, .delete, .insert, .insert])
                #expect(events.map(\.commit.metadata.actor) == ["importer", "importer", "anna", "anna", "anna"])
                #expect(events[0].commit.metadata.reason == "nightly")
                #expect(events[0].commit.number == events[1].commit.number)
                #expect(events[3].commit.number == events[4].commit.number)
            }
        }

        /// By SQLite, where the file or the connection is made so that it can't, or by the store.
        @Test(
            "What would bypass the log is refused",
            arguments: [
                ("DELETE FROM storage_log", "constraint"), ("PRAGMA writable_schema = ON", "invalid-argument"),
                ("COMMIT", "invalid-argument"),
                ("ATTACH ':memory:' AS other", "sql"), ("CREATE TEMP TABLE users (id)", "invalid-argument"),
            ])
        func bypassingLog(_ sql: String, _ code: String) async throws {
            try await withStore { context, _ in
                let storage = context.facade
                let client = storage.sqliteClient
                try await client.write { db in _ = try db.execute("INSERT INTO users (id) VALUES (1)") }
                let error = await #expect(throws: (any Error).self) {
                    try await client.write { db in
                        try db.execute("INSERT INTO users (id) VALUES (2)")
                        try db.execute(sql)
                    }
                }
                let found = [
                    (error as? StorageError)?.code.description, (error as? SQLiteClientError)?.code.description,
                ]
                #expect(found.contains(code), "\(String(describing: error))")
                #expect(try await events(storage).count == 1)
                let rows = try await client.read { db in try db.fetchAll("SELECT id FROM users", as: Int.self) }
                #expect(rows == [1])
            }
        }

        /// Typed saves go past GRDB's statements, and are observed all the same.
        @Test("Typed writes are observed")
        func typedWritesAreObserved() async throws {
            try await withStore { context, path in
                let storage = context.facade
                var reader = try await storage.sqliteClient.observeTables(["Users"]).makeAsyncIterator()
                let database: any SQLiteDatabase = context.storage.pool
                try await database.write { db in try db.execute(sql: "INSERT INTO users (id) VALUES (1)") }
                #expect(try await reader.next() == ["Users"])
                // Another opening of the file, for reading only, hears of it as well.
                let configuration = StorageConfig(isReadOnly: true)
                let other = try StorageKit.start(at: URL(fileURLWithPath: path), config: configuration).facade
                var others = try await other.sqliteClient.observeTables(["users"]).makeAsyncIterator()
                try await storage.sqliteClient.write { db in _ = try db.execute("DELETE FROM users WHERE id = 1") }
                #expect(try await others.next() == ["users"])
                let error = await #expect(throws: StorageError.self) {
                    try await other.sqliteClient.write { db in _ = try db.execute("INSERT INTO users (id) VALUES (9)") }
                }
                #expect(error?.code == .readOnly)
                try await other.close()
            }
        }

        /// A queue or pool of GRDB on a store's file would go around the log.
        @Test("Another connection of GRDB only reads")
        func otherGRDBConnections() async throws {
            try await withStore { context, path in
                let storage = context.facade
                try await storage.sqliteClient.write { db in _ = try db.execute("INSERT INTO users (id) VALUES (1)") }
                let databases: [any SQLiteDatabase] = [try DatabaseQueue(path: path), try DatabasePool(path: path)]
                for database in databases {
                    try await withDependencies {
                        $0.defaultDatabase = database
                    } operation: {
                        @Dependency(\.defaultDatabase) var given
                        @Dependency(\.sqliteClient) var client
                        let writes: [@Sendable () async throws -> Void] = [
                            { [given] in try await given.write { try $0.execute(sql: "DELETE FROM users") } },
                            { [client] in try await client.write { db in _ = try db.execute("DELETE FROM users") } },
                            { [client] in try await client.write {} },
                            {
                                let client = SQLiteClient.grdb(database)
                                try await client.write { db in _ = try db.execute("DELETE FROM users") }
                            },
                        ]
                        for write in writes {
                            let error = await #expect(throws: SQLiteClientError.self) { try await write() }
                            #expect(error?.code == .readOnly)
                            #expect(error?.remedy.contains("storage.sqliteClient") == true)
                        }
                        let ids = try await client.read { db in try db.fetchAll("SELECT id FROM users", as: Int.self) }
                        #expect(ids == [1])
                        #expect(try await given.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM users") } == 1)
                    }
                }
                #expect(try await events(storage).count == 1)
            }
        }

        /// Another database that attaches the store's file writes to its own tables, and not to the store's.
        @Test("A store that is attached isn't written to")
        func attachedStore() async throws {
            try await withStore { context, path in
                let storage = context.facade
                try await storage.sqliteClient.write { db in _ = try db.execute("INSERT INTO users (id) VALUES (1)") }
                let queue = try DatabaseQueue()
                let client = SQLiteClient.grdb(queue)
                try await client.write { db in _ = try db.execute("CREATE TABLE own (a)") }
                let error = await #expect(throws: SQLiteClientError.self) {
                    try await client.write { db in
                        _ = try db.execute("ATTACH '\(path)' AS s")
                        _ = try db.execute("INSERT INTO own VALUES (1)")
                        _ = try db.execute("DELETE FROM s.users")
                    }
                }
                #expect(error?.code == .readOnly)
                #expect(
                    try await storage.sqliteClient.read { try $0.fetchAll("SELECT id FROM users", as: Int.self) } == [1]
                )
                try await queue.writeWithoutTransaction { try? $0.execute(sql: "DETACH s") }
                try await client.write { db in
                    _ = try db.execute("ATTACH ':memory:' AS m")
                    _ = try db.execute("INSERT INTO own VALUES (2)")
                }
                #expect(try await client.read { try $0.fetchAll("SELECT a FROM own", as: Int.self) } == [2])
            }
        }

        /// Its streams of values end then, and don't ask again every second.
        @Test("A closed database is an error", .timeLimit(.minutes(10)))
        func closedDatabase() async throws {
            try await withStore { _, path in
                let databases: [any DatabaseWriter & SQLiteDatabase] = [
                    try DatabaseQueue(), try DatabasePool(path: path + ".other"),
                ]
                for database in databases {
                    let client = SQLiteClient.grdb(database)
                    try database.close()
                    let read = await #expect(throws: SQLiteClientError.self) {
                        try await client.read { try $0.fetchOne("SELECT 1", as: Int.self) }
                    }
                    let write = await #expect(throws: SQLiteClientError.self) {
                        try await client.write { _ = try $0.execute("CREATE TABLE t (a)") }
                    }
                    #expect(read?.code == .closed)
                    #expect(write?.code == .closed)
                    for await _ in client.values({ try $0.fetchOne("SELECT 1", as: Int.self) ?? 0 }) {
                        Issue.record("a value of a closed database")
                    }
                }
            }
        }

        #if SQLITE_ENGINE_SQLITENIO
            /// The SwiftNIO engine beside the open store: it reads and observes, and never writes.
            @Test("Another engine only reads")
            func anotherEngine() async throws {
                try await withStore { context, path in
                    let storage = context.facade
                    try await storage.sqliteClient.write { db in _ = try db.execute("INSERT INTO users (id) VALUES (1)")
                    }
                    let pool = try await SQLiteConnectionPool.open(storage: .file(path: path))
                    let client = SQLiteClient.nio(pool)
                    #expect(
                        try await client.read { db in try db.fetchAll("SELECT id FROM users", as: Int.self) } == [1])
                    do {
                        try await client.write { db in _ = try db.execute("INSERT INTO users (id) VALUES (2)") }
                        Issue.record("it could write")
                    } catch let error as SQLiteClientError {
                        #expect(error.code == .readOnly)
                    }
                    var reader = try await client.observeTables(["users"]).makeAsyncIterator()
                    try await storage.sqliteClient.write { db in _ = try db.execute("INSERT INTO users (id) VALUES (3)")
                    }
                    #expect(try await reader.next() == ["users"])
                    try await pool.close()
                }
            }
        #endif
    }
#endif
