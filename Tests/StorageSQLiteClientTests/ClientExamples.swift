#if SQLITE_ENGINE_GRDB
    import Foundation
    import GRDB
    import TestSupport
    import StorageSQLiteClient
    import Testing

    // The examples of the guide to SQLite clients, compiled. `DocumentationTests` compares the page with this file.

    struct ClientExamples {
        struct User: Codable, Sendable {
            var name: String
            var age: Int?
        }

        struct Item: Codable, FetchableRecord, PersistableRecord {
            static let databaseTableName = "items"
            var id: Int64
        }

        struct Dashboard: FetchKeyRequest {
            struct Value: Sendable {
                var users = 0
            }

            func fetch(_ db: SQLiteTransaction) throws -> Value {
                Value(users: try db.fetchOne("SELECT count(*) FROM users", as: Int.self) ?? 0)
            }
        }

        struct Model {
            @FetchAll var items: [Item]
            @FetchAll("SELECT name FROM users ORDER BY name") var names: [String]
            @FetchOne("SELECT count(*) FROM users") var count = 0
            @Fetch(Dashboard()) var dashboard = Dashboard.Value()
        }

        @Test("The examples run")
        func examplesRun() async throws {
            let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).sqlite").path
            defer { for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) } }
            let client = SQLiteClient.grdb(try DatabasePool(path: path))
            try await client.write { db in
                try db.execute("CREATE TABLE users (name TEXT, age INTEGER)")
                try db.execute("CREATE TABLE items (id INTEGER PRIMARY KEY)")
            }

            try await client.write { db in
                try db.execute("INSERT INTO users (name) VALUES (?)", ["Anna"])
            }
            let names = try await client.read { db in
                try db.fetchAll("SELECT name FROM users WHERE age >= ?", [18], as: String.self)
            }
            let users = try await client.read { db in
                try db.fetchAll("SELECT * FROM users", as: User.self)
            }
            #expect(names == [])
            #expect(users.map(\.name) == ["Anna"])

            let observation = try await client.observeTables(["users"]) { print("changed") }
            observation.cancel()
            let model = withDependencies {
                $0.sqliteClient = client
            } operation: {
                Model()
            }
            try await eventually { model.names == ["Anna"] && model.count == 1 && model.dashboard.users == 1 }
        }

        /// For a program of its own: it says something for the whole process, and never ends.
        func forAProgram(_ path: String, _ client: SQLiteClient, _ item: Item) async throws {
            prepareDependencies { $0.defaultDatabase = try! DatabaseQueue(path: path) }

            struct Importer {
                @Dependency(\.sqliteClient) var client
            }
            try await client.write {
                @Dependency(\.defaultDatabase) var database
                try await database.write { db in try item.insert(db) }
            }
            for try await tables in try await client.observeTables(["users", "posts"]) {
                print("changed:", tables)
            }
        }
    }
#endif
