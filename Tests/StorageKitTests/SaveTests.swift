import GRDB
import StorageEntities
import StorageKit
import StorageMaintenance
import Testing

@StorageEntity
struct Person {
    var id: String
    var name: String
    var age: Int?
    var score: Double
}

struct SaveTests {
    private func open() throws -> Storage {
        try StorageKit.inMemory { $0.autoSchema(PersonRecord.self) }.facade
    }

    @Test("A saved entity is read back")
    func savedEntityIsReadBack() async throws {
        let storage = try open()
        let anna = Person(id: "1", name: "Anna", age: 31, score: 1.5)
        let receipt = try await storage.save(anna)
        #expect(receipt.eventCount == 1)
        #expect(try await storage.get(Person.self, id: "1") == anna)
        #expect(try await storage.count(Person.self) == 1)
        #expect(try await storage.exists(Person.self, id: "1"))
    }

    @Test("Saving what is there writes nothing")
    func unchangedSaveWritesNothing() async throws {
        let storage = try open()
        let anna = Person(id: "1", name: "Anna", age: nil, score: -0.0)
        try await storage.save(anna)
        let head = storage.head
        let again = try await storage.save(anna)
        #expect(again.commit == nil)
        #expect(storage.head == head)
        let zero = try await storage.save(Person(id: "1", name: "Anna", age: nil, score: 0.0))
        #expect(zero.commit != nil, "0.0 and -0.0 are two values")
    }

    @StorageEntity(table: "people") struct Name: Equatable {
        var id: String
        var name: String
        var note: String
        var count: Int
    }

    private func openNames() throws -> Storage {
        try StorageKit.inMemory { schema in
            schema.migration("people") { db in
                try db.execute(
                    sql: """
                        CREATE TABLE people(
                          id TEXT COLLATE NOCASE NOT NULL PRIMARY KEY, name TEXT COLLATE NOCASE NOT NULL,
                          note TEXT COLLATE RTRIM NOT NULL, count ANY NOT NULL, updatedAt ANY NOT NULL) STRICT
                        """)
            }
            schema.adopt("people")
            schema.autoSchema(NameRecord.self)
        }.facade
    }

    /// What a collation calls equal is another value all the same, and so is 1 beside 1.0.
    @Test("A value that the table calls equal is saved")
    func collatedEqualValueIsSaved() async throws {
        let storage = try openNames()
        func stored() async throws -> [String] {
            try await storage.read { db in
                try String.fetchAll(
                    db, sql: "SELECT id || '|' || name || '|' || note || '|' || quote(count) FROM people")
            }
        }
        var name = Name(id: "1", name: "anna", note: "n", count: 1)
        try await storage.save(name)
        name.name = "Anna"
        #expect(try await storage.save(name).commit != nil)
        name.note = "n  "
        #expect(try await storage.save(name).commit != nil)
        #expect(try await stored() == ["1|Anna|n  |1"])
        try await storage.write { try $0.execute("UPDATE people SET count = 1.0") }
        #expect(try await stored() == ["1|Anna|n  |1.0"])
        #expect(try await storage.save(name).commit != nil)
        #expect(try await stored() == ["1|Anna|n  |1"])
        #expect(try await storage.save(name).commit == nil)
    }

    /// A key that the table takes for another one's is the same row, spelled as it was saved last.
    @Test("A key is spelled as it was last saved")
    func keySpelling() async throws {
        let storage = try openNames()
        try await storage.save(Name(id: "anna", name: "a", note: "", count: 1))
        let receipt = try await storage.save(Name(id: "Anna", name: "a", note: "", count: 1))
        #expect(receipt.commit != nil)
        #expect(try await storage.all(Name.self).map(\.id) == ["Anna"])
        #expect(try await storage.save(Name(id: "Anna", name: "a", note: "", count: 1)).commit == nil)
        #expect(try await storage.verify().isSound)
    }
}
