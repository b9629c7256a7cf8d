import StorageEntities
import StorageKit
import StorageTesting
import Testing

/// The reference's chapter on the facade: saving, reading, paging, counting, deleting.
@Suite struct ReferenceFacadeTests {
    @StorageEntity
    struct Guest {
        var id: String
        var name: String
        var status: String
        var arrival: Date
        var visits: Int
    }

    private func open(_ count: Int = 0) async throws -> Storage {
        let storage = try StorageKit.inMemory { schema in
            schema.addKVCache()
            schema.autoSchema(GuestRecord.self)
        }.facade
        try await storage.save((0..<count).map(guest))
        return storage
    }

    private func guest(_ number: Int) -> Guest {
        Guest(
            id: "g\(100 + number)", name: "Name \(99 - number)", status: number % 3 == 0 ? "gone" : "here",
            arrival: Date(timeIntervalSinceReferenceDate: Double(number * 37 % 10)), visits: number)
    }

    @Test("Saving inserts, then updates in place")
    func saving() async throws {
        let storage = try await open()
        let lesia = guest(1)
        try await storage.save(lesia)
        var renamed = lesia
        renamed.name = "Lesia"
        try await storage.save(renamed)
        #expect(try await storage.all(Guest.self) == [renamed])
        #expect(try await storage.logText() == ["insert guests/g101", "update guests/g101 name updatedAt"])
    }

    @Test("Many are saved as one commit or not at all")
    func savingMany() async throws {
        let storage = try await open()
        let guests = (0..<1_000).map(guest)
        let receipt = try await storage.save(guests)
        #expect(receipt.eventCount == 1_000)
        let commits = Set(try await storage.allEvents().map(\.commit.number))
        #expect(commits.count == 1)
        #expect(commits.first == receipt.commit)
        // One that can't be stored takes the others with it.
        var broken = guest(2_001)
        broken.name = "a\0b"
        await #expect(throws: StorageError.self) { try await storage.save([guest(2_000), broken]) }
        #expect(try await storage.count(Guest.self) == 1_000)
    }

    @Test("One is found by its id, and nil means none")
    func gettingOne() async throws {
        let storage = try await open(3)
        #expect(try await storage.get(Guest.self, id: "g101")?.name == "Name 98")
        #expect(try await storage.get(Guest.self, id: "nobody") == nil)
    }

    @Test("All come in the order of the key or of a column")
    func gettingAll() async throws {
        let storage = try await open(10)
        let guests = (0..<10).map(guest)
        #expect(try await storage.all(Guest.self) == guests)
        #expect(try await storage.all(Guest.self, ascending: false) == guests.reversed())
        #expect(try await storage.all(Guest.self, orderBy: "name").map(\.name) == guests.map(\.name).sorted())
        let newest = try await storage.all(Guest.self, orderBy: "arrival", ascending: false).map(\.arrival)
        #expect(newest == guests.map(\.arrival).sorted(by: >))
        #expect(try await open().all(Guest.self).isEmpty)
    }

    @Test("Pages follow each other to the end")
    func paging() async throws {
        let storage = try await open(50)
        let first = try await storage.page(Guest.self, orderBy: "name", limit: 20)
        #expect(first.items.count == 20)
        #expect(first.hasMore)
        #expect(first.nextOffset == 20)
        let second = try await storage.page(Guest.self, orderBy: "name", limit: 20, offset: first.nextOffset)
        #expect(second.items.first?.name == "Name 70")
        var seen: [Guest] = []
        var offset = 0
        while true {
            let page = try await storage.page(
                Guest.self, orderBy: "visits", ascending: false, limit: 15, offset: offset)
            seen += page.items
            guard page.hasMore else { break }
            offset = page.nextOffset
        }
        #expect(seen.map(\.visits) == Array((0..<50).reversed()))
        let behind = try await storage.page(Guest.self, limit: 5, offset: 50)
        #expect(behind.items.isEmpty)
        #expect(!behind.hasMore)
        #expect(behind.nextOffset == 50)
    }

    @Test("Counts are the number of rows")
    func counting() async throws {
        #expect(try await open(7).count(Guest.self) == 7)
        #expect(try await open().count(Guest.self) == 0)
    }

    @Test("Every form of deleting deletes what it names")
    func deleting() async throws {
        let storage = try await open(12)
        try await storage.delete(Guest.self, id: "g100")
        try await storage.delete(Guest.self, id: "g100")
        let one = try #require(try await storage.get(Guest.self, id: "g101"))
        try await storage.delete(one)
        #expect(try await storage.count(Guest.self) == 10)
        #expect(try await storage.deleteAll(Guest.self, where: "status", equals: "gone") == 3)
        #expect(try await storage.deleteAll(Guest.self, where: "visits", equals: 2) == 1)
        #expect(try await storage.deleteAll(Guest.self, where: "status", equals: "never heard of") == 0)
        #expect(try await storage.deleteAll(Guest.self) == 6)
        #expect(try await storage.deleteAll(Guest.self) == 0)
        // The log has what was deleted.
        #expect(try await storage.history(Guest.self, id: "g101").map(\.operation) == [.insert, .delete])
    }

    @Test("An unknown column is an error that lists the others")
    func unknownColumn() async throws {
        let storage = try await open(1)
        let errors = [
            await #expect(throws: StorageError.self) { try await storage.all(Guest.self, orderBy: "surname") },
            await #expect(throws: StorageError.self) { try await storage.page(Guest.self, orderBy: "1", limit: 1) },
            await #expect(throws: StorageError.self) {
                try await storage.deleteAll(Guest.self, where: "1=1 OR name", equals: "x")
            },
        ]
        #expect(errors.allSatisfy { $0?.code == .invalidName && $0?.remedy.contains("arrival") ?? false })
        #expect(try await storage.count(Guest.self) == 1)
    }

    @Test("A query is built call by call")
    func chainedQuery() async throws {
        let storage = try await open(30)
        let regulars = try await storage.query(Guest.self)
            .where { $0.visits >= 18 }
            .orderBy("name")
            .limit(5)
            .fetch()
        #expect(regulars.map(\.visits) == [29, 28, 27, 26, 25])
    }
}
