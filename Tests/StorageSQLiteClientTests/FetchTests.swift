import Observation
import StorageSQLiteClient
import Synchronization
import TestSupport
import Testing

#if SQLITE_ENGINE_GRDB
    import GRDB
#endif

/// Live properties over a client, on each engine.
struct FetchTests {
    struct User: Codable, Hashable, Sendable {
        var id: Int
        var name: String?
    }

    struct Dashboard: FetchKeyRequest {
        struct Value: Hashable, Sendable {
            var users = 0
            var posts = 0
        }

        func fetch(_ db: SQLiteTransaction) throws -> Value {
            Value(
                users: try db.fetchOne("SELECT count(*) FROM users", as: Int.self) ?? 0,
                posts: try db.fetchOne("SELECT count(*) FROM posts", as: Int.self) ?? 0)
        }
    }

    /// A view creates its properties again each time that its body is evaluated, and reads the first ones only.
    @Test("An unread property reads nothing", arguments: TestEngine.allCases)
    func unreadProperty(_ engine: TestEngine) async throws {
        try await engine.withClient { client in
            let reads = Atomic<Int>(0)
            let body: @Sendable (SQLiteTransaction) throws -> Int = { db in
                reads.add(1, ordering: .relaxed)
                return try db.fetchOne("SELECT count(*) FROM users", as: Int.self) ?? 0
            }
            let properties = (0..<50).map { _ in FetchOne(wrappedValue: -1, client: client, body) }
            try await client.write { db in _ = try db.execute("INSERT INTO users (id, name) VALUES (1, 'a')") }
            // Time for a read that must not come.
            try await Task.sleep(for: .milliseconds(50))
            #expect(reads.load(ordering: .relaxed) == 0)
            try await eventually { properties[0].wrappedValue == 1 }
            #expect((1...4).contains(reads.load(ordering: .relaxed)))
        }
    }

    @Test("Properties follow their tables", arguments: TestEngine.allCases)
    func propertiesFollowTables(_ engine: TestEngine) async throws {
        try await engine.withClient { client in
            try await withDependencies {
                $0.sqliteClient = client
            } operation: {
                @FetchAll("SELECT name FROM users ORDER BY id") var names: [String]
                @FetchAll("SELECT id, name FROM users WHERE id > ? ORDER BY id", [1]) var users: [User]
                @FetchOne("SELECT count(*) FROM users") var count = -1
                @FetchOne("SELECT id, name FROM users WHERE id = 2") var second: User?
                @Fetch(Dashboard()) var dashboard = Dashboard.Value()
                // What was declared, or what was loaded already.
                #expect(names == [])
                #expect([-1, 0].contains(count))
                try await $count.load()
                #expect(count == 0)
                #expect(second == nil)
                try await client.write { db in
                    try db.execute("INSERT INTO users (id, name) VALUES (1, 'a'), (2, 'b')")
                    try db.execute("INSERT INTO posts (id, user) VALUES (1, 1)")
                }
                try await eventually { count == 2 && names == ["a", "b"] && users == [User(id: 2, name: "b")] }
                try await eventually { second == User(id: 2, name: "b") && dashboard == .init(users: 2, posts: 1) }
                try await client.write { db in _ = try db.execute("DELETE FROM posts WHERE id = 1") }
                try await eventually { dashboard == .init(users: 2, posts: 0) }
                #expect($names.loadError == nil)
                #expect(!$names.isLoading)
            }
        }
    }

    @Test("Unrelated commits run nothing again", arguments: TestEngine.allCases)
    func unrelatedCommits(_ engine: TestEngine) async throws {
        try await engine.withClient { client in
            let runs = Counter()
            let values = client.values { db in
                runs.add()
                return try db.fetchOne("SELECT count(*) FROM users", as: Int.self) ?? -1
            }
            var reader = values.makeAsyncIterator()
            #expect(await reader.next() == 0)
            let before = runs.value
            try await client.write { db in _ = try db.execute("INSERT INTO posts (id, user) VALUES (1, 1)") }
            try await client.write { db in _ = try db.execute("INSERT INTO users (id, name) VALUES (1, 'a')") }
            #expect(await reader.next() == 1)
            #expect(runs.value == before + 1)
        }
    }

    /// An error keeps the value, is reported, and ends nothing.
    @Test("Errors end nothing", arguments: TestEngine.allCases)
    func errorsEndNothing(_ engine: TestEngine) async throws {
        struct Refused: Error {}
        try await engine.withClient { client in
            let isOpen = Counter()
            let state = FetchAll<Int>(client: client) { db in
                let ids = try db.fetchAll("SELECT id FROM users ORDER BY id", as: Int.self)
                if ids == [1], isOpen.value == 0 { throw Refused() }
                return ids
            }
            try await eventually { !state.projectedValue.isLoading }
            try await client.write { db in _ = try db.execute("INSERT INTO users (id) VALUES (1)") }
            try await eventually { state.projectedValue.loadError is Refused }
            #expect(state.wrappedValue == [])
            isOpen.add()
            try await eventually { state.wrappedValue == [1] }
            #expect(state.projectedValue.loadError == nil)
        }
    }

    @Test("A released state stops fetching")
    func releasedStateStops() async throws {
        try await TestEngine.allCases[0].withClient { client in
            let runs = Counter()
            var state: FetchAll<Int>? = FetchAll(client: client) { db in
                runs.add()
                return try db.fetchAll("SELECT id FROM users", as: Int.self)
            }
            try await eventually { state?.projectedValue.isLoading == false }
            state = nil
            // Whoever was using it just then lets go of it only after a moment.
            try await eventually {
                let before = runs.value
                for _ in 0..<10 {
                    try await client.write { db in _ = try db.execute("INSERT INTO users (name) VALUES ('a')") }
                    // Time for a read that must not come.
                    try await Task.sleep(for: .milliseconds(10))
                }
                return runs.value == before
            }
        }
    }

    /// A read that began before another one has nothing to say behind it, however long it takes.
    @Test("An older read doesn't restore an older value", .timeLimit(.minutes(10)))
    func olderReadArrivesLater() async throws {
        try await TestEngine.allCases[0].withClient { client in
            let (mustWait, waits) = (Counter(), Counter())
            let (gate, opening) = AsyncStream.makeStream(of: Void.self)
            var gated = client
            gated.reading = { body in
                try await client.reading(body)
                // Only the first read behind the signal: it has its value, and nobody else has it yet.
                guard mustWait.value == 1, waits.add() == 1 else { return }
                for await _ in gate {}
            }
            let state = FetchOne(wrappedValue: -1, "SELECT count(*) FROM users", client: gated).projectedValue
            try await eventually { state.value == 0 }
            mustWait.add()
            let loading = Task { try await state.load() }
            try await eventually { waits.value == 1 }
            try await client.write { db in _ = try db.execute("INSERT INTO users (id) VALUES (1)") }
            try await eventually { state.value == 1 }
            opening.finish()
            try await loading.value
            #expect(state.value == 1)
            try await state.load()
            #expect(state.value == 1)
        }
    }

    /// The first look at a property may be inside of a body: what follows has no part in its transaction.
    @Test("A fetch that begins in a body continues", .timeLimit(.minutes(10)), arguments: TestEngine.allCases)
    func fetchBeginningInBody(_ engine: TestEngine) async throws {
        try await engine.withClient { client in
            let state = FetchOne(wrappedValue: -1, "SELECT count(*) FROM users", client: client).projectedValue
            try await client.write {
                // What was declared, or what was there before the transaction.
                #expect([-1, 0].contains(state.value))
                try await client.write { db in _ = try db.execute("INSERT INTO users (id) VALUES (1)") }
            }
            try await eventually { state.value == 1 }
            try await client.write { db in _ = try db.execute("INSERT INTO users (id) VALUES (2)") }
            try await eventually { state.value == 2 }
        }
    }

    @Test("Changes are observable")
    func observableChanges() async throws {
        try await TestEngine.allCases[0].withClient { client in
            let state = FetchOne(wrappedValue: 0, "SELECT count(*) FROM users", client: client).projectedValue
            try await state.load()
            try await eventually { !state.isLoading }
            await withCheckedContinuation { continuation in
                withObservationTracking {
                    _ = state.value
                } onChange: {
                    continuation.resume()
                }
                Task { try await client.write { db in _ = try db.execute("INSERT INTO users (id) VALUES (1)") } }
            }
            try await eventually { state.value == 1 }
        }
    }

    #if SQLITE_ENGINE_GRDB
        struct Item: Codable, FetchableRecord, PersistableRecord, Hashable {
            static let databaseTableName = "users"
            var id: Int
            var name: String?
        }

        struct Names: FetchKeyRequest {
            func fetch(_ db: Database) throws -> [String] { try String.fetchAll(db, sql: "SELECT name FROM users") }
        }

        struct Model {
            @FetchAll var items: [Item]
            @FetchAll({ Item.filter(Column("id") > 1) }) var later: [Item]
            @FetchOne var first: Item?
            @Fetch(Names()) var names: [String] = []
        }

        @Test("Records of GRDB are fetched", arguments: [TestEngine.queue, .pool, .store])
        func recordsOfGRDB(_ engine: TestEngine) async throws {
            try await engine.withClient { client in
                try await withDependencies {
                    $0.sqliteClient = client
                } operation: {
                    let model = Model()
                    try await client.write { db in
                        try Item(id: 1, name: "a").insert(db.database)
                        try Item(id: 2, name: "b").insert(db.database)
                    }
                    try await eventually { model.items.count == 2 && model.later.map(\.id) == [2] }
                    try await eventually { model.first?.id == 1 && model.names == ["a", "b"] }
                }
            }
        }
    #endif
}
