import EntityTestSupport
import Foundation
import GRDB
import StorageEntities
import StorageKit
import StorageTesting
import TestSupport
import Testing

/// What can be asked of the present can be asked of the past.
@Suite struct PastReadsTests {
    @StorageEntity(table: "shelves") struct Shelf: Equatable {
        var id: Int
        var name: String
        @StorageHasMany(foreignKey: "shelfId") var tomes: [Tome]
    }
    @StorageEntity(table: "tomes") struct Tome: Equatable {
        var id: Int
        var title: String
        var shelfId: Int
    }

    private func shelf(_ id: Int) -> Shelf { Shelf(id: id, name: "shelf \(id)", tomes: []) }

    /// Everything that both can be asked, as one text.
    private func answers(_ reader: some EntityReader) async throws -> [String] {
        let page = try await reader.page(Tome.self, orderBy: "title", limit: 2, offset: 1)
        let shelves = try await reader.all(Shelf.self)
        let parents = try await reader.loadParents(Shelf.self, ids: [1, 2, 99])
        let byColumn = try await reader.loadChildren(
            Tome.self, where: "shelfId", in: [1, 2], orderBy: "title", ascending: false)
        let byProperty = try await reader.loadChildren(of: shelves, \.tomes)
        return [
            "\(page.items) \(page.nextOffset) \(page.hasMore)", "\(shelves)",
            "\(try await reader.get(Tome.self, id: 1) as Any)", "\(try await reader.exists(Tome.self, id: 3))",
            "\(try await reader.count(Tome.self))", "\(try await reader.loadParent(Shelf.self, id: 2) as Any)",
            "\(parents.sorted { $0.key < $1.key })", "\(byColumn.sorted { $0.key < $1.key })",
            "\(byProperty.sorted { $0.key < $1.key })",
            "\(try await reader.loadChildren(Tome.self, where: "shelfId", equals: 1, ascending: false))",
            "\(try await reader.loadChildren(of: shelf(2), \.tomes, orderBy: "title"))",
        ]
    }

    @Test("A snapshot answers as the store did then")
    func snapshotAnswersAsBefore() async throws {
        let store = try TemporaryStore {
            $0.autoSchema(ShelfRecord.self, TomeRecord.self)
            $0.addFullTextSearch(table: "tomes", columns: ["title"])
        }
        let storage = store.storage
        var then: [(position: Int64, answers: [String], found: [String])] = []
        func remember() async throws {
            let found = try await storage.searchWithSnippets(Tome.self, query: "red").map { $0.snippet ?? "" }
            then.append((storage.head, try await answers(storage), found))
        }
        try await storage.save([shelf(1), shelf(2)])
        try await storage.save((0..<6).map { Tome(id: $0, title: "\($0 % 2 == 0 ? "red" : "blue") \($0)", shelfId: 1) })
        try await remember()
        try await storage.query(Tome.self).where { $0.id > 2 }.updateAll { $0.shelfId.set(to: 2) }
        try await storage.save(Tome(id: 1, title: "a red one", shelfId: 2))
        try await remember()
        try await storage.delete(Tome.self, id: 3)
        try await storage.save(Shelf(id: 2, name: "attic", tomes: []))
        try await remember()
        #expect(Set(then.map { $0.answers.joined() }).count == 3)
        // At once, and each wherever the others are.
        let snapshots = try await withThrowingTaskGroup(of: (Int, [String], [String]).self) { group in
            for index in [2, 0, 1, 0, 2] {
                let position = then[index].position
                group.addTask {
                    let past = try await storage.asOf(.position(position))
                    let found = try await past.searchWithSnippets(Tome.self, query: "red").map { $0.snippet ?? "" }
                    return (index, try await answers(past), found)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(snapshots.count == 5)
        for (index, answers, found) in snapshots {
            #expect(answers == then[index].answers)
            #expect(found.sorted() == then[index].found.sorted())
        }
        let error = await #expect(throws: StorageError.self) {
            try await storage.asOf(.head).page(Tome.self, limit: -1)
        }
        #expect(error?.code == .invalidArgument)
    }

    /// All entities show the same moment, however many moments are open, also more than are kept.
    @Test("Many snapshots are open at once, each at its own point")
    func manySnapshotsAtOnce() async throws {
        let store = try TemporaryStore { $0.autoSchema(NoteRecord.self, PersonRecord.self) }
        let storage = store.storage
        var heads: [Int64] = []
        for round in 0..<12 {
            let receipt = try await storage.write { tx in
                try tx.save(Note(id: 1, text: "round \(round)"))
                try tx.save(Person(id: "p", name: "round \(round)", age: nil, score: 0))
            }
            heads.append(receipt.last)
        }
        var snapshots: [StorageSnapshot] = []
        for head in heads { snapshots.append(try await storage.asOf(.position(head))) }
        var random = SplitMix64(seed: 1)
        for (round, past) in Array(snapshots.enumerated()).shuffled(using: &random) {
            #expect(try await past.get(Note.self, id: 1)?.text == "round \(round)")
            try await storage.save(Note(id: 1, text: "meanwhile \(round)"))
            #expect(try await past.get(Person.self, id: "p")?.name == "round \(round)")
        }
        for (round, head) in heads.enumerated() {
            #expect(try await storage.asOf(.position(head)).all(Note.self).map(\.text) == ["round \(round)"])
        }
    }

    @Test("A cached snapshot follows the current schema")
    func cachedSnapshotFollowsSchema() async throws {
        let store = try TemporaryStore { $0.autoSchema(NoteRecord.self) }
        let storage = store.storage
        try await storage.save(Note(id: 1, text: "one"))
        let point = StoragePoint.position(storage.head)
        func columns(_ schema: SnapshotSchema) async throws -> [String] {
            try await storage.asOf(point, schema: schema).read { try $0.columns(in: "notes").map(\.name) }
        }
        let before = try await columns(.current)
        #expect(
            try await columns(.asRecorded).filter { $0 != "_position" }.sorted()
                == before.filter { $0 != "_position" }.sorted())
        try await storage.write { try $0.execute("ALTER TABLE notes ADD COLUMN extra TEXT DEFAULT 'x'") }
        #expect(try await columns(.current) == before + ["extra"])
        #expect(try await !columns(.asRecorded).contains("extra"))
        let extra = try await storage.asOf(point).read { try String.fetchOne($0, sql: "SELECT extra FROM notes") }
        #expect(extra == "x")
    }
}
