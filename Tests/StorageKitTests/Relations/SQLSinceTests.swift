import StorageTesting
import TestSupport
import Testing

@testable import StorageKit

/// SQL of one's own, followed from where a reader was.
@Suite(.timeLimit(.minutes(2))) struct SQLSinceTests {
    private struct Total: Decodable, FetchableRecord, Identifiable, Equatable {
        var id: String
        var pages: Int

        static func all(_ db: Database) throws -> [Total] {
            try fetchAll(
                db,
                sql: """
                    SELECT novelistId AS id, sum(pages) AS pages FROM novels JOIN chapters ON novelId = novels.id \
                    WHERE novelistId IS NOT NULL GROUP BY novelistId ORDER BY pages DESC, novelistId
                    """)
        }
    }

    private struct Part: Decodable, FetchableRecord, Identifiable, Equatable {
        var id: Int
        var pages: Int
    }

    private func change(_ storage: Storage, _ generator: inout SplitMix64) async throws {
        let seed = generator.next()
        try await storage.write { tx in
            var generator = SplitMix64(seed: seed)
            for _ in 0..<3 { try Library.change(tx, &generator, size: 5) }
        }
    }

    @Test("A difference since a position leads from what was found then to what is found now", arguments: testSeeds(6))
    func differencesSince(seed: UInt64) async throws {
        var generator = SplitMix64(seed: seed)
        let storage = try await Library.open(hasIndexes: generator.chance(50))
        for _ in 0..<20 { try await change(storage, &generator) }
        let live = storage.live { try Total.all($0) }
        var (totals, position) = ([Total](), Int64(0))
        var first = live.differences.makeAsyncIterator()
        let whole = try #require(await first.next())
        whole.apply(to: &totals)
        position = whole.position
        var count = 0
        while count < 10 {
            for _ in 0...generator.below(4) { try await change(storage, &generator) }
            let fresh = try await storage.read { try Total.all($0) }
            // There would be no first difference.
            guard fresh != totals else { continue }
            count += 1
            let differences =
                generator.chance(50)
                ? live.differences(since: position)
                : live.differences(since: try await storage.changeToken(at: position))
            var iterator = differences.makeAsyncIterator()
            let difference = try #require(await iterator.next())
            #expect(difference.whole == nil, "STORAGEKIT_SEED=\(seed)")
            #expect(difference.fits(totals))
            difference.apply(to: &totals)
            #expect(totals == fresh, "STORAGEKIT_SEED=\(seed)")
            position = difference.position
        }
    }

    @Test("Where nothing has changed, the first difference is that of the next change")
    func unchanged() async throws {
        let storage = try await Library.open()
        try await storage.save([Chapter(id: 1, pages: 10, novelId: 1), Chapter(id: 2, pages: 20, novelId: 1)])
        let position = storage.head
        try await storage.save(Novel(id: 7, year: 1990))
        let live = storage.live { try Part.fetchAll($0, sql: "SELECT id, pages FROM chapters ORDER BY pages, id") }
        let differences = live.differences(since: position).makeAsyncIterator()
        let value = storage.liveValue { try Int.fetchOne($0, sql: "SELECT sum(pages) FROM chapters") ?? 0 }
        var values = value.differences(since: position).makeAsyncIterator()
        async let next = { [differences] in
            var differences = differences
            return try await differences.next()
        }()
        let receipt = try await storage.save(Chapter(id: 1, pages: 30, novelId: 1))
        let difference = try #require(try await next)
        #expect(difference.position == receipt.position)
        #expect(difference.whole == nil)
        var parts = [Part(id: 1, pages: 10), Part(id: 2, pages: 20)]
        difference.apply(to: &parts)
        #expect(parts == [Part(id: 2, pages: 20), Part(id: 1, pages: 30)])
        let change = try #require(await values.next())
        #expect(change.old == 30)
        #expect(change.new == 50)
        _ = differences
    }

    /// A statement whose result as of a position isn't known for certain.
    @Test(
        "The whole result is sent where what was found isn't certain",
        arguments: [
            // An order that leaves two rows open, none, and one that decides which rows there are.
            "SELECT id, pages FROM chapters ORDER BY novelId", "SELECT id, pages FROM chapters",
            "SELECT id, pages FROM chapters ORDER BY novelId LIMIT 1",
            // What isn't there in the past.
            "SELECT id, pages FROM parts ORDER BY id",
            "SELECT id, pages + (SELECT 0 * count(*) FROM storage_log) AS pages FROM chapters ORDER BY id",
        ])
    func uncertain(sql: String) async throws {
        let storage = try await Library.open()
        try await storage.write { try $0.execute("CREATE VIEW parts AS SELECT id, pages FROM chapters") }
        try await storage.save([Chapter(id: 1, pages: 10, novelId: 1), Chapter(id: 2, pages: 20, novelId: 1)])
        let position = storage.head
        try await storage.save(Chapter(id: 1, pages: 30, novelId: 1))
        let live = storage.live { try Part.fetchAll($0, sql: sql) }
        var differences = live.differences(since: position).makeAsyncIterator()
        let difference = try #require(await differences.next())
        #expect(difference.whole == (try await storage.read { try Part.fetchAll($0, sql: sql) }))
    }

    @Test("The whole result is sent after a change of the schema, and for a history of another store")
    func otherHistory() async throws {
        let storage = try await Library.open()
        try await storage.save(Chapter(id: 1, pages: 10, novelId: 1))
        let position = storage.head
        let live = storage.live { try Part.fetchAll($0, sql: "SELECT id, pages FROM chapters ORDER BY id") }
        let other = try await Library.open()
        try await other.save(Chapter(id: 1, pages: 10, novelId: 1))
        let token = try await other.changeToken(at: position)
        try await storage.save(Chapter(id: 2, pages: 30, novelId: 1))
        var strangers = live.differences(since: token).makeAsyncIterator()
        #expect(try await strangers.next()?.whole?.count == 2)
        var later = live.differences(since: storage.head + 100).makeAsyncIterator()
        #expect(try await later.next()?.whole?.count == 2)
        var known = live.differences(since: position).makeAsyncIterator()
        #expect(try await known.next()?.whole == nil)
        try await storage.write { try $0.execute("ALTER TABLE chapters ADD COLUMN words INTEGER DEFAULT 7") }
        var differences = live.differences(since: position).makeAsyncIterator()
        #expect(try await differences.next()?.whole?.count == 2)
    }
}
