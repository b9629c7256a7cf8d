#if SQLITE_ENGINE_GRDB
    import GRDB
    import StorageKit
    import StorageSQLiteClient

    /// The examples of the module's comments, compiled and not run. `DocumentationTests` compares them with this file, and
    /// those of `StorageKit` about clients.
    enum CommentExamples {
        struct Item: Codable, FetchableRecord, PersistableRecord, TableRecord {
            var id: Int64
        }

        struct User: Codable, Sendable {
            var name: String
        }

        struct Dashboard: FetchKeyRequest {
            struct Value: Sendable { var users = 0, posts = 0 }

            func fetch(_ db: SQLiteTransaction) throws -> Value {
                Value(
                    users: try db.fetchOne("SELECT count(*) FROM users", as: Int.self) ?? 0,
                    posts: try db.fetchOne("SELECT count(*) FROM posts", as: Int.self) ?? 0)
            }
        }

        struct Model {
            @Fetch(Dashboard()) var dashboard = Dashboard.Value()
            @FetchAll var items: [Item]
            @FetchAll("SELECT name FROM users ORDER BY name") var names: [String]
            @FetchOne("SELECT count(*) FROM users") var count = 0
            @FetchOne("SELECT * FROM users WHERE id = ?", [7]) var user: User?

            func reload() async throws {
                try await $items.load()
                if let error = $items.loadError { print(error) }
            }
        }

        struct Importer {
            @Dependency(\.sqliteClient) var client

            func run() async throws {
                try await client.write { db in try db.execute("DELETE FROM users") }
            }
        }

        struct Tour {
            @Dependency(\.sqliteClient) var client

            func run() async throws {
                try await client.write { db in
                    try db.execute("INSERT INTO users (name) VALUES (?)", ["Anna"])
                }
                let names = try await client.read { db in
                    try db.fetchAll("SELECT name FROM users", as: String.self)
                }
                print(names)
                let items = try await client.read {
                    @Dependency(\.defaultDatabase) var database
                    return try await database.read { db in try Item.fetchAll(db) }
                }
                print(items.count)
            }

            func fetchAdults() async throws -> [String] {
                let names = try await client.read { db in
                    try db.fetchAll("SELECT name FROM users WHERE age >= ?", [18], as: String.self)
                }
                return names
            }

            func fail() async throws {
                do {
                    try await client.write { db in try db.execute("INSERT INTO users (id) VALUES (1)") }
                } catch let error as SQLiteClientError where error.code == .constraint {
                    print(error.message, error.remedy)
                }
            }

            func observe() async throws {
                for try await tables in try await client.observeTables(["users", "posts"]) {
                    print("changed:", tables)
                }
                let observation = try await client.observeTables(["users"]) { print("changed") }
                observation.cancel()
            }

            func follow(show: (Int) -> Void) async {
                let counts = client.values { db in try db.fetchOne("SELECT count(*) FROM users", as: Int.self) ?? 0 }
                for await count in counts { show(count) }
            }
        }

        static func rows(_ db: SQLiteTransaction) throws -> Int {
            let ages = try db.fetchAll("SELECT name, age FROM users") { row in
                (try row.value(String.self, "name"), try row.value(Int?.self, "age"))
            }
            return ages.count
        }

        static func prepare() throws {
            try prepareDependencies {
                $0.defaultDatabase = try DatabaseQueue()
            }
            try prepareDependencies { $0.defaultDatabase = try DatabaseQueue() }
            try withDependencies {
                $0.defaultDatabase = try DatabaseQueue()
            } operation: {
            }
        }

        static func database(item: Item) async throws {
            @Dependency(\.defaultDatabase) var database
            let items = try await database.read { db in try Item.fetchAll(db) }
            try await database.write { db in try item.insert(db) }
            print(items.count)
        }

        static func store(_ storage: Storage) async throws {
            prepareDependencies { $0.sqliteClient = storage.sqliteClient }
            let client = storage.sqliteClient(actor: "importer", reason: "nightly import")
            try await client.write { db in try db.execute("DELETE FROM drafts") }
        }

        static func dependencies(importer: Importer) async throws {
            try await withDependencies {
                $0.sqliteClient = .inMemory()
            } operation: {
                try await importer.run()
            }
        }
    }

    struct Mailer: Sendable {
        static let smtp = Mailer()
        static let unimplemented = Mailer()
    }

    private enum MailerKey: DependencyKey {
        static let liveValue = Mailer.smtp
        static let testValue = Mailer.unimplemented
    }

    extension DependencyValues {
        var mailer: Mailer {
            get { self[MailerKey.self] }
            set { self[MailerKey.self] = newValue }
        }
    }
#endif
