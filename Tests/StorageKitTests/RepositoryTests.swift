import EntityTestSupport
import Foundation
import StorageEntities
import StorageKit
import StorageMaintenance
import StorageTesting
import TestSupport
import Testing

/// Repositories, relationships and the ways below the facade.
@Suite struct RepositoryTests {
    private func open() throws -> StorageKit.Context {
        try StorageKit.inMemory { $0.autoSchema(AuthorRecord.self, VolumeRecord.self) }
    }

    private func fill(_ storage: Storage) async throws {
        try await storage.save([MacroFeatureTests.author("a"), MacroFeatureTests.author("b", city: "Lviv")])
        try await storage.save((0..<6).map { Volume(id: $0, title: "v\($0 % 4)", authorId: $0 < 4 ? "a" : "b") })
    }

    @Test("A repository does what the facade does")
    func repositoryEqualsFacade() async throws {
        let context = try open()
        try await fill(context.facade)
        let volumes = context.makeRepository(Volume.self, record: VolumeRecord.self)
        let any: AnyRepository<Volume> = context.repository(Volume.self, record: VolumeRecord.self)
        #expect(try await volumes.getAll(orderBy: "id", ascending: false).map(\.id) == [5, 4, 3, 2, 1, 0])
        #expect(try await any.getAll(where: "authorId", equals: "b", orderBy: "id").map(\.id) == [4, 5])
        #expect(try await any.countAll() == 6)
        let page = try await volumes.getPage(orderBy: "id", limit: 4)
        #expect(page.items.count == 4)
        #expect(page.hasMore)
        #expect(page.nextOffset == 4)
        #expect(try await any.getPage(limit: 4, offset: page.nextOffset).hasMore == false)
        try await any.put(Volume(id: 9, title: "nine", authorId: "a"))
        try await volumes.putAll([Volume(id: 10, title: "ten", authorId: "b")])
        try await any.delete(id: 0)
        #expect(try await volumes.get(id: 0) == nil)
        #expect(try await any.deleteAll(where: "authorId", equals: "b") == 3)
        #expect(try await volumes.deleteAll() == 4)
    }

    /// Whatever changes a row takes it out of memory, before the write has returned.
    @Test("Memory follows every way of writing")
    func cacheFollowsEveryWrite() async throws {
        let context = try open()
        let storage = context.facade
        try await fill(storage)
        let volumes = storage.repository(Volume.self)
        func expect(_ title: String?, _ change: String) async throws {
            #expect(try await volumes.get(id: 1)?.title == title, "\(change)")
            // Now it is in memory, and in step.
            #expect(try await volumes.get(id: 1, policy: .memoryOnly)?.title == title, "\(change)")
            #expect(try await volumes.get(id: 1, policy: .database)?.title == title, "\(change)")
        }
        try await expect("v1", "nothing")
        try await storage.save(Volume(id: 1, title: "saved", authorId: "a"))
        #expect(try await volumes.get(id: 1, policy: .memoryOnly) == nil)
        try await expect("saved", "save")
        try await storage.write { try $0.execute("UPDATE volumes SET title = 'raw' WHERE id = 1") }
        try await expect("raw", "raw SQL")
        try await context.storage.dbActor.write { try $0.execute(sql: "UPDATE volumes SET title = 'actor'") }
        try await expect("actor", "actor")
        try await storage.query(Volume.self).where { $0.id == 1 }.updateAll { $0.title.set(to: "query") }
        try await expect("query", "query")
        // A commit that is undone leaves memory alone.
        _ = try? await storage.write { tx in
            try tx.execute("UPDATE volumes SET title = 'undone'")
            throw CancellationError()
        }
        #expect(try await volumes.get(id: 1, policy: .memoryOnly)?.title == "query")
        try await storage.delete(Author.self, id: "a")
        #expect(try await volumes.get(id: 1, policy: .memoryOnly) == nil)
        #expect(try await volumes.get(id: 1) == nil)
    }

    /// Readers beside a writer: once a write has returned, nobody reads what was before it.
    @Test("No read after a write is stale")
    func noStaleReads() async throws {
        let context = try open()
        let storage = context.facade
        try await fill(storage)
        let volumes = storage.repository(Volume.self)
        try await withThrowingTaskGroup { group in
            for id in 0..<4 {
                group.addTask {
                    for round in 0..<150 {
                        try await volumes.put(Volume(id: id, title: "\(round)", authorId: "a"))
                        let read = try await volumes.get(id: id)?.title
                        #expect(read == "\(round)")
                    }
                }
                group.addTask {
                    for _ in 0..<300 { _ = try await volumes.get(id: id) }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("Parents and children are loaded in one query")
    func loadingInOneQuery() async throws {
        let storage = try open().facade
        try await fill(storage)
        let a = try #require(try await storage.loadParent(Author.self, id: "a"))
        #expect(try await storage.loadParents(Author.self, ids: ["a", "b", "x", "a"]).keys.sorted() == ["a", "b"])
        let byTitle = try await storage.loadChildren(
            Volume.self, where: "authorId", equals: a.id, orderBy: "title", ascending: false)
        #expect(byTitle.map(\.id) == [3, 2, 1, 0])
        #expect(try await storage.loadChildren(of: a, \.books).map(\.id) == [0, 1, 2, 3])
        let lists = try await storage.loadChildren(
            of: try await storage.all(Author.self), \.books, orderBy: "id", ascending: false)
        #expect(lists["a"]?.map(\.id) == [3, 2, 1, 0])
        #expect(lists["b"]?.map(\.id) == [5, 4])
        let titles = try await storage.loadChildren(Volume.self, where: "title", in: ["v0", "v1", "none"])
        #expect(titles["v0"]?.map(\.id) == [0, 4])
        #expect(titles["none"] == nil)
        await #expect(throws: StorageError.self) {
            try await storage.loadChildren(Volume.self, where: "no\" column", equals: "x")
        }
        // More parents than a query takes parameters.
        #expect(try await storage.loadChildren(Volume.self, where: "id", in: 0..<70_000).count == 6)
    }

    @Test("Children are listed under the id they were requested by")
    func childrenUnderRequestedId() async throws {
        let storage = try StorageKit.inMemory {
            $0.autoSchema(TagRecord.self)
            $0.migration("words without case") { db in
                try db.execute(
                    sql: """
                        CREATE TABLE tags_new (
                            id TEXT PRIMARY KEY NOT NULL, word TEXT NOT NULL COLLATE NOCASE, updatedAt DATETIME NOT NULL)
                        """)
                try db.execute(sql: "DROP TABLE tags")
                try db.execute(sql: "ALTER TABLE tags_new RENAME TO tags")
            }
        }.facade
        try await storage.save([Tag(id: "1", word: "Fire"), Tag(id: "2", word: "water"), Tag(id: "3", word: "FIRE")])
        let found = try await storage.loadChildren(Tag.self, where: "word", in: ["fire", "WATER", "air"])
        #expect(found.mapValues { $0.map(\.id) } == ["fire": ["1", "3"], "WATER": ["2"]])
    }

    @StorageEntity struct Tag: Equatable { var id: String; var word: String }

    @Test("The pool can neither hide changes nor bypass the log")
    func poolCantBypassLog() async throws {
        let context = try open()
        try await fill(context.facade)
        let head = context.facade.head
        let count = try await CommitContext.$actor.withValue("anna") {
            try await context.storage.pool.write { db in
                try db.execute(sql: "UPDATE volumes SET title = title || '!' WHERE id < 2")
                return db.changesCount
            }
        }
        #expect(count == 2)
        #expect(context.facade.head == head + 2)
        #expect(try await context.facade.history(Volume.self, id: 0).last?.commit.metadata.actor == "anna")
        #expect(
            try await context.storage.dbActor.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM volumes") } == 6)
        await #expect(throws: (any Error).self) {
            try await context.storage.pool.read { try $0.execute(sql: "DELETE FROM volumes") }
        }
        await #expect(throws: StorageError.self) {
            try await context.storage.pool.write { try $0.execute(sql: "VACUUM") }
        }
        await #expect(throws: StorageError.self) {
            try await context.storage.pool.write { try $0.execute(sql: "COMMIT") }
        }
        #expect(try await context.facade.verify().isSound)
    }

    @Test("Every form of `start` works")
    func everyFormOfStart() async throws {
        let folder = try TemporaryFolder()
        let url = URL(fileURLWithPath: folder.path("s.sqlite"))
        let context = try StorageKit.start(at: url, cacheTTL: .hours(1), diskQuota: .megabytes(50)) { schema in
            schema.setOptions(Options(logger: { _ in }))
            schema.addKVCache()
            schema.autoSchema(NoteRecord.self)
        }
        #expect(context.config.defaultTTL == 3_600)
        #expect(context.config.diskQuotaBytes == 50 * 1_048_576)
        try await context.facade.save(Note(id: 1, text: "x"))
        try await context.facade.close()
        let again = try StorageKit.start(at: url, config: StorageConfig(namespace: "mine"))
        #expect(again.config.namespace == "mine")
        try await again.facade.close()
        // A clock of one's own is that of the log as well.
        let clock = TestClock()
        let timed = try StorageKit.inMemory(config: StorageConfig(clock: clock)) { $0.autoSchema(NoteRecord.self) }
        clock.advance(5)
        #expect(try await timed.facade.save(Note(id: 1, text: "x")).time == 1_000_005_000_000)
        // Only on request, a store that doesn't fit is erased.
        func wrong(_ schema: inout Schema) { schema.migration("wrong") { try $0.execute(sql: "nonsense") } }
        #expect(throws: StorageError.self) { try StorageKit.start(at: url, wrong) }
        #expect(throws: StorageError.self) {
            try StorageKit.start(at: url) { schema in
                schema.setOptions(Options(eraseDatabaseOnSchemaChange: true))
                wrong(&schema)
            }
        }
        let empty = try StorageKit.start(at: url) {
            $0.autoSchema(NoteRecord.self)
            $0.migration("once") { _ in }
        }
        #expect(try await empty.facade.count(Note.self) == 0)
        try await empty.facade.close()
        // Nothing but a cache is declared, so nothing can be missing.
        let plain = try StorageKit.start(at: url) { $0.addKVCache() }
        try await plain.facade.close()
    }
}
