import Observation
import StorageEntities
import StorageKit
import StorageTesting
import TestSupport
import Testing

/// The reference's beginnings and its whole program, without their screens: the models, the store, what a view would ask.
@Suite struct ReferenceAppTests {
    @StorageEntity
    struct Poet {
        var id: String
        var name: String
        var email: String
    }

    @StorageEntity
    struct Poem {
        var id: String
        var title: String
        var content: String
        var poetId: String
        var createdAt: Date
        @StorageBelongsTo var poet: Poet?
    }

    private static func declare(_ schema: inout Schema) {
        schema.setOptions(Options(logger: { _ in }))
        schema.addKVCache()
        schema.autoSchema(PoetRecord.self, PoemRecord.self)
        schema.addFullTextSearch(table: "poems", columns: ["title", "content"])
        schema.migration("2026-01-15_indexes") { db in
            try db.create(index: "idx_poems_poet", on: "poems", columns: ["poetId"])
            try db.create(index: "idx_poems_created", on: "poems", columns: ["createdAt"])
            try db.create(index: "idx_poets_email", on: "poets", columns: ["email"])
            try db.create(index: "idx_poems_poet_created", on: "poems", columns: ["poetId", "createdAt"])
        }
    }

    @Test("The smallest program works")
    func smallestProgram() async throws {
        let context = try StorageKit.inMemory { schema in
            schema.addKVCache()
            schema.autoSchema(PoetRecord.self)
        }
        let storage = context.facade
        let poet = Poet(id: UUID().uuidString, name: "Lina", email: "lina@verse.example")
        try await storage.save(poet)
        if let found = try await storage.get(Poet.self, id: poet.id) {
            #expect(found.name == "Lina")
        } else {
            Issue.record("what was saved isn't there")
        }
        #expect(try await storage.all(Poet.self, orderBy: "name") == [poet])
    }

    /// A store that a whole program shares, opened when it is first asked for.
    private enum AppStorage {
        static let context: StorageKit.Context = {
            do {
                return try StorageKit.inMemory(
                    cacheTTL: .minutes(10), diskQuota: .megabytes(50), ReferenceAppTests.declare)
            } catch {
                fatalError("The store can't be opened: \(error)")
            }
        }()

        static var storage: Storage { context.facade }
    }

    /// A view's model, on the main actor and observable as on every platform.
    @Observable @MainActor
    final class PoemList {
        private(set) var poems: [Poem] = []

        func reload() async throws {
            poems = try await AppStorage.storage.all(Poem.self, orderBy: "createdAt", ascending: false)
        }

        func create(title: String, content: String, poetId: String) async throws {
            let poem = Poem(
                id: UUID().uuidString, title: title, content: content, poetId: poetId,
                createdAt: Date(timeIntervalSinceReferenceDate: Double(poems.count)))
            try await AppStorage.storage.save(poem)
            try await reload()
        }

        func delete(id: String) async throws {
            try await AppStorage.storage.delete(Poem.self, id: id)
            try await reload()
        }

        func search(_ query: String) async throws -> [Poem] {
            guard !query.isEmpty else { return [] }
            return try await AppStorage.storage.search(Poem.self, query: query, limit: 20).map(\.entity)
        }
    }

    @Test("A whole program works")
    @MainActor func wholeProgram() async throws {
        let poet = Poet(id: "lina", name: "Lina", email: "lina@verse.example")
        try await AppStorage.storage.save(poet)
        let list = PoemList()
        try await list.create(title: "Morning", content: "The river wakes", poetId: poet.id)
        try await list.create(title: "Evening", content: "A river sleeps", poetId: poet.id)
        try await list.create(title: "Noon", content: "Nothing moves", poetId: poet.id)
        #expect(list.poems.map(\.title) == ["Noon", "Evening", "Morning"])
        #expect(try await list.search("rivers").map(\.title).sorted() == ["Evening", "Morning"])
        #expect(try await list.search("").isEmpty)
        try await list.delete(id: list.poems[1].id)
        #expect(list.poems.map(\.title) == ["Noon", "Morning"])
        #expect(try await list.search("sleeping").isEmpty)
        #expect(try await AppStorage.storage.loadParent(Poet.self, id: list.poems[0].poetId) == poet)
    }

    @Test("Indexes serve the queries they were made for")
    func indexesServeQueries() async throws {
        let storage = try StorageKit.inMemory(Self.declare).facade
        let byEmail = try await storage.query(Poet.self).where { $0.email == "x" }.explain().plan
        #expect(byEmail.contains { $0.contains("idx_poets_email") })
        let byPoet = try await storage.query(Poem.self).where { $0.poetId == "x" }.orderBy("createdAt", .descending)
            .explain().plan
        #expect(byPoet.contains { $0.contains("idx_poems_poet_created") }, "\(byPoet)")
        // Filtering in the database finds what filtering in Swift finds.
        try await storage.save((0..<9).map { Poet(id: "\($0)", name: "\($0 % 3)", email: "e\($0)") })
        let all = try await storage.all(Poet.self).filter { $0.name >= "1" }
        #expect(try await storage.query(Poet.self).where { $0.name >= "1" }.fetch() == all)
    }

    // MARK: From GRDB alone

    private struct OldPoet: Codable, FetchableRecord, PersistableRecord {
        static let databaseTableName = "poets"
        var id: String
        var name: String
        var email: String
    }

    /// A database that GRDB made isn't taken over behind its owner's back: it is refused, left as it is, and its rows are
    /// saved into a store.
    @Test("Rows of a database made with GRDB are saved into a store")
    func databaseMadeWithGRDB() async throws {
        let folder = try TemporaryFolder()
        let queue = try DatabaseQueue(path: folder.path("old.sqlite"))
        try await queue.write { db in
            try db.create(table: "poets") { table in
                table.column("id", .text).primaryKey()
                table.column("name", .text).notNull()
                table.column("email", .text).notNull()
            }
            for number in 0..<3 { try OldPoet(id: "\(number)", name: "n", email: "e\(number)").insert(db) }
        }
        let error = #expect(throws: StorageError.self) {
            try StorageKit.start(at: URL(fileURLWithPath: folder.path("old.sqlite"))) { $0.autoSchema(PoetRecord.self) }
        }
        #expect(error?.code == .notAStore)
        let old = try await queue.read { db in try OldPoet.fetchAll(db) }
        let storage = try StorageKit.start(at: URL(fileURLWithPath: folder.path("new.sqlite"))) {
            $0.autoSchema(PoetRecord.self)
        }.facade
        try await storage.save(old.map { Poet(id: $0.id, name: $0.name, email: $0.email) })
        #expect(try await storage.all(Poet.self).map(\.email) == ["e0", "e1", "e2"])
        try await storage.close()
        try queue.close()
    }
}
