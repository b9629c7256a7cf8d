import Foundation
import StorageKit
import StorageSQLiteClient
import StorageSQLiteNIO
import TestSupport
import Testing

#if SQLITE_ENGINE_GRDB
    import GRDB
#endif

/// Several clients of one database: inside of a body each of them is that body's transaction, and none waits for it.
@Suite(.timeLimit(.minutes(10)))
struct ClientIdentityTests {
    struct Stop: Error {}

    /// The first client opens the transaction, the others work in it.
    private func expectShared(_ client: SQLiteClient, _ others: [SQLiteClient]) async throws {
        try await client.write { db in _ = try db.execute("CREATE TABLE IF NOT EXISTS users (id INTEGER PRIMARY KEY)") }
        for (index, other) in others.enumerated() {
            await #expect(throws: Stop.self) {
                try await client.write {
                    try await other.write { db in try db.execute("INSERT INTO users (id) VALUES (?)", [index]) }
                    try await other.write {
                        try await other.write { db in
                            try db.execute("INSERT INTO users (id) VALUES (?)", [index + 100])
                        }
                    }
                    let ids = try await other.read {
                        try await client.read { db in try db.fetchAll("SELECT id FROM users ORDER BY id", as: Int.self)
                        }
                    }
                    #expect(ids == [index, index + 100])
                    throw Stop()
                }
            }
            let count = try await other.read { db in try db.fetchOne("SELECT count(*) FROM users", as: Int.self) }
            #expect(count == 0)
        }
    }

    #if SQLITE_ENGINE_GRDB
        @Test("Clients of one queue share a body")
        func queueClients() async throws {
            let queue = try DatabaseQueue()
            try await withDependencies {
                $0.defaultDatabase = queue
            } operation: {
                @Dependency(\.sqliteClient) var client
                @Dependency(\.defaultDatabase) var database
                try await expectShared(.grdb(queue), [.grdb(queue), .grdb, .grdb(database), client])
                try await expectShared(.grdb, [.grdb(queue), .grdb, .grdb(database), client])
                // A database that was taken out of the property beforehand, too.
                let taken = database
                let count = try await client.write {
                    try await taken.write { db in try db.execute(sql: "INSERT INTO users (id) VALUES (1)") }
                    let inside = database
                    try await client.write {
                        try await inside.write { db in try db.execute(sql: "INSERT INTO users (id) VALUES (2)") }
                    }
                    return try await taken.read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM users") }
                }
                #expect(count == 2)
            }
        }

        @Test("Clients of one pool share a body")
        func poolClients() async throws {
            try await TestEngine.pool.withClient { client in try await expectShared(client, [client]) }
        }

        /// Tables are observed before: with one connection the call would wait for the body.
        @Test("Tables can't be observed from inside of a body", arguments: TestEngine.allCases)
        func observingInsideBody(_ engine: TestEngine) async throws {
            try await engine.withClient { client in
                await expect(.invalidArgument) {
                    try await client.read { _ = try await client.observeTables(["users"]) }
                }
                await expect(.invalidArgument) {
                    try await client.write { _ = try await client.observeTables(["users"]) {} }
                }
            }
        }

        private func withStore(inMemory: Bool = true, _ body: (Storage) async throws -> Void) async throws {
            let declare = { (schema: inout Schema) in
                schema.migration("users") { try $0.execute(sql: "CREATE TABLE users (id INTEGER PRIMARY KEY)") }
                schema.adopt("users")
            }
            let folder = try TemporaryFolder()
            let context =
                inMemory
                ? try StorageKit.inMemory(declare)
                : try StorageKit.start(at: folder.url.appendingPathComponent("store.sqlite"), declare)
            try await body(context.facade)
            try await context.facade.close()
        }

        @Test("Clients of one store share a body")
        func storeClients() async throws {
            try await withStore { storage in
                try await expectShared(
                    storage.sqliteClient, [storage.sqliteClient, storage.sqliteClient(actor: "a", reason: "b")])
                let before = storage.head
                try await storage.sqliteClient.write {
                    try await storage.sqliteClient.write { db in try db.execute("INSERT INTO users (id) VALUES (1)") }
                    try await storage.sqliteClient(actor: "x").write { db in
                        try db.execute("INSERT INTO users (id) VALUES (2)")
                    }
                }
                var commits: Set<Int64> = []
                for try await event in storage.log.events(LogQuery(tables: ["users"])) where event.position > before {
                    commits.insert(event.commit.number)
                }
                #expect(commits.count == 1)
            }
        }

        /// The store's own calls would wait for the body. They say so, and go on when it is over.
        @Test("The store's own calls don't wait for the body", arguments: [true, false])
        func storeCallsInsideBody(isInMemory: Bool) async throws {
            try await withStore(inMemory: isInMemory) { storage in
                let insert: @Sendable (Int) async throws -> Void = { id in
                    _ = try await storage.write {
                        try $0.database.execute(sql: "INSERT INTO users (id) VALUES (?)", arguments: [id])
                    }
                }
                let count: @Sendable () async throws -> Void = {
                    _ = try await storage.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM users") }
                }
                let (over, ends) = AsyncStream.makeStream(of: Void.self)
                let later = try await storage.sqliteClient.write {
                    await expectMisuse { try await insert(1) }
                    // With one connection reading waits, too.
                    if isInMemory { await expectMisuse { try await count() } } else { try await count() }
                    try await storage.sqliteClient.write { db in try db.execute("INSERT INTO users (id) VALUES (2)") }
                    return Task {
                        for await _ in over {}
                        try await insert(3)
                    }
                }
                ends.finish()
                // A task that the body has started, and that writes when the body is over.
                try await later.value
                try await storage.sqliteClient.read {
                    if isInMemory { await expectMisuse { try await insert(4) } } else { try await insert(4) }
                }
                let ids = try await storage.sqliteClient.read { db in
                    try db.fetchAll("SELECT id FROM users ORDER BY id", as: Int.self)
                }
                #expect(ids == (isInMemory ? [2, 3] : [2, 3, 4]))
            }
        }

        private func expectMisuse(_ body: () async throws -> Void) async {
            let error = await #expect(throws: StorageError.self) { try await body() }
            #expect(error?.code == .invalidArgument)
            #expect(error?.remedy.contains("client") == true)
        }
    #endif

    #if SQLITE_ENGINE_SQLITENIO
        @Test("Clients of one connection share a body")
        func connectionClients() async throws {
            let connection = try await SQLiteConnection.open()
            try await withDependencies {
                $0.defaultSQLiteConnection = connection
            } operation: {
                try await expectShared(.nio(connection), [.nio(connection), .nio])
                try await expectShared(.nio, [.nio(connection), .nio])
            }
        }

        @Test("Clients of one pool of connections share a body")
        func connectionPoolClients() async throws {
            let pool = try await SQLiteConnectionPool.open(storage: .memory)
            try await expectShared(.nio(pool), [.nio(pool)])
        }
    #endif

    private func expect(_ code: SQLiteClientError.Code, _ body: () async throws -> Void) async {
        let error = await #expect(throws: SQLiteClientError.self) { try await body() }
        #expect(error?.code == code)
    }
}
