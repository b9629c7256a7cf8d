import EntityTestSupport
import Foundation
import StorageEntities
import StorageKit
import StorageTesting
import TestSupport
import Testing

/// The difference between two points, as programs ask for it.
@Suite struct DifferenceTests {
    @Test("A difference has entities as they were and as they are")
    func entitiesBeforeAndAfter() async throws {
        let store = try TemporaryStore { $0.autoSchema(NoteRecord.self, PersonRecord.self) }
        let storage = store.storage
        try await storage.save([
            Person(id: "a", name: "Anna", age: 41, score: 1), Person(id: "b", name: "Ben", age: nil, score: 2),
            Person(id: "c", name: "Cleo", age: 7, score: 3),
        ])
        let before = try await storage.save(Note(id: 1, text: "a note"))
        try await storage.save(Person(id: "a", name: "Anna B.", age: 41, score: 1))
        try await storage.save(Person(id: "a", name: "Anna C.", age: 41, score: 1))
        try await storage.delete(Person.self, id: "b")
        try await storage.save(Person(id: "d", name: "Dora", age: nil, score: 4))
        // Back to what it was.
        try await storage.save(Person(id: "c", name: "Cleo", age: 8, score: 3))
        try await storage.save(Person(id: "c", name: "Cleo", age: 7, score: 3))
        var found: [EntityDifference<Person>] = []
        for try await change in storage.diff(Person.self, from: .position(before.last)) { found.append(change) }
        #expect(found.map(\.operation) == [.update, .delete, .insert])
        #expect(found.map(\.old?.name) == ["Anna", "Ben", nil])
        #expect(found.map(\.new?.name) == ["Anna C.", nil, "Dora"])
        #expect(found[0].old?.age == 41)
        #expect(found[0].new?.age == 41)
        var back: [EntityDifference<Person>] = []
        for try await change in storage.diff(Person.self, from: .head, to: .position(before.last)) {
            back.append(change)
        }
        #expect(back.map(\.operation) == [.update, .insert, .delete])
        #expect(back.map(\.new?.name) == ["Anna", "Ben", nil])

        var rows: [String] = []
        for try await row in storage.diff(from: .position(0), tables: ["notes", "note"]) { rows.append(row.table) }
        #expect(rows.count == 1)
        let error = await #expect(throws: StorageError.self) {
            for try await _ in storage.diff(from: .commit(999)) {}
        }
        #expect(error?.code == .notFound)
    }

    @Test("Blame names who set each value")
    func blameOfValues() async throws {
        let storage = try StorageKit.inMemory { $0.autoSchema(NoteRecord.self, PersonRecord.self) }.facade
        let anna = Person(id: "a", name: "Anna", age: 41, score: 1)
        try await storage.write(actor: "anna") { try $0.save(anna) }
        let second = try await storage.write(actor: "ben", reason: "a birthday") {
            try $0.save(Person(id: "a", name: "Anna", age: 42, score: 1))
        }
        try await storage.write(actor: "import") { try $0.save(Person(id: "a", name: "Anna", age: 43, score: 9)) }
        let actors = { (cells: [CellOrigin]?) in
            var actors: [String: String] = [:]
            for cell in cells ?? [] { actors[cell.field.column] = cell.commit.metadata.actor }
            return actors
        }
        let now = actors(try await storage.blame(Person.self, id: "a"))
        #expect(now["name"] == "anna")
        #expect(now["age"] == "import")
        #expect(now["score"] == "import")
        let past = actors(try await storage.blame(Person.self, id: "a", at: .position(second.last)))
        #expect(past["name"] == "anna")
        #expect(past["age"] == "ben")
        #expect(past["score"] == "anna")
        let before = actors(
            try await storage.blame(Person.self, id: "a") { $0.metadata.actor == "import" })
        #expect(before["age"] == "ben")
        #expect(before["score"] == "anna")
        #expect(try await storage.blame(Person.self, id: "nobody") == nil)
        try await storage.delete(Person.self, id: "a")
        #expect(try await storage.blame(Person.self, id: "a") == nil)
    }

    @Test("Many rows come in the order of their keys")
    func manyRowsInKeyOrder() async throws {
        let storage = try StorageKit.inMemory { $0.autoSchema(NoteRecord.self) }.facade
        let before = storage.head
        var random = SplitMix64(seed: 1)
        try await storage.save((0..<1_000).shuffled(using: &random).map { Note(id: $0, text: "\($0)") })
        var ids: [Int] = []
        for try await change in storage.diff(Note.self, from: .position(before)) {
            ids.append(try #require(change.new).id)
        }
        #expect(ids == Array(0..<1_000))
    }

    enum V1 {
        @StorageEntity(table: "people") struct Person {
            var id: String
            var mail: String
            var age: Int
        }
    }
    enum V2 {
        @StorageEntity(table: "people") struct Person {
            var id: String
            var email: String
            var city: String = "Rome"
        }
    }

    @Test("Entities from before a schema change are read as declared now")
    func differenceAcrossSchemaChange() async throws {
        let folder = try TemporaryFolder()
        let url = URL(fileURLWithPath: folder.path("a.sqlite"))
        let first = try StorageKit.start(at: url) { $0.autoSchema(V1.PersonRecord.self) }.facade
        try await first.save([V1.Person(id: "a", mail: "a@x", age: 4), V1.Person(id: "b", mail: "b@x", age: 5)])
        let before = first.head
        try await first.close()
        let storage = try StorageKit.start(at: url) {
            $0.renameColumn("mail", to: "email", in: "people")
            $0.dropColumn("age", from: "people")
            $0.autoSchema(V2.PersonRecord.self)
        }.facade
        try await storage.save(V2.Person(id: "a", email: "a@y", city: "Oslo"))
        var found: [EntityDifference<V2.Person>] = []
        for try await change in storage.diff(V2.Person.self, from: .position(before)) { found.append(change) }
        #expect(found.map(\.old?.email) == ["a@x"])
        #expect(found.map(\.new?.email) == ["a@y"])
        #expect(found.map(\.new?.city) == ["Oslo"])
        // The untyped difference has what was deleted with the column too.
        var rows: [RowDifference] = []
        for try await row in storage.diff(from: .position(before)) { rows.append(row) }
        #expect(rows.map { $0.old?["age"] } == [4, 5])
        #expect(rows.map { $0.new?["age"] } == [.null, .null])
        #expect(rows[0].old?["email"] == "a@x")
        #expect(rows[1].old?["email"] == nil)
        try await storage.close()
    }

    @Test("diff accepts a former name of an entity, and refuses a name that the store never had")
    func differenceByFormerName() async throws {
        let folder = try TemporaryFolder()
        let url = URL(fileURLWithPath: folder.path("a.sqlite"))
        let first = try StorageKit.start(at: url) { $0.autoSchema(V1.PersonRecord.self) }.facade
        let before = try await first.save(V1.Person(id: "a", mail: "a@x", age: 4))
        let after = try await first.save(V1.Person(id: "a", mail: "a@y", age: 4))
        try await first.close()
        let storage = try StorageKit.start(at: url) { $0.renameEntity("people", to: "users") }.facade
        var found: [EntityDifference<V1.Person>] = []
        for try await change in storage.diff(
            V1.Person.self, from: .position(before.last), to: .position(after.last))
        { found.append(change) }
        #expect(found.map(\.old?.mail) == ["a@x"])
        #expect(found.map(\.new?.mail) == ["a@y"])
        // At neither end it has the name.
        found = []
        for try await change in storage.diff(V1.Person.self, from: .position(0), to: .head) { found.append(change) }
        #expect(found.map(\.old?.mail) == [nil])
        #expect(found.map(\.new?.mail) == ["a@y"])
        for point in [StoragePoint.position(0), .head] {
            for try await change in storage.diff(V1.Person.self, from: point, to: point) {
                Issue.record("\(change)")
            }
        }
        let error = await #expect(throws: StorageError.self) {
            for try await _ in storage.diff(Person.self, from: .position(0)) {}
        }
        #expect(error?.code == .notFound)
        try await storage.close()
    }
}

extension [StorageEvent.Field] {
    fileprivate subscript(column: String) -> StorageValue? { first { $0.column == column }?.value }
}
