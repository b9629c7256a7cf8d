import Foundation
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

    /// A type of one's own over an integer without a sign.
    struct Ticks: StorageColumnValue, Codable, Equatable {
        var count: UInt64

        static var columnType: String { UInt64.columnType }
        var storageValue: StorageValue { count.storageValue }

        init(_ count: UInt64) { self.count = count }
        init(storageValue: StorageValue) throws { count = try UInt64(storageValue: storageValue) }
    }

    struct Usage: Embeddable {
        var bytes: UInt64
        var peak: UInt?
    }

    @StorageEntity struct Meter: Equatable {
        var id: Int
        var total: UInt64
        var last: UInt64?
        var span: Ticks
        @StorageEmbedded var usage: Usage
    }

    @StorageEntity struct Gauge {
        var id: Int
        var level: UInt64 = 18_446_744_073_709_551_615
    }

    /// Of the digits a column of integers would make a real, which no property reads.
    @Test("A number above Int64.max is refused wherever it is stored, and conditions compare it as it is")
    func unsignedNumberAboveRange() async throws {
        let storage = try StorageKit.inMemory { $0.autoSchema(MeterRecord.self) }.facade
        let most = UInt64(Int64.max)
        let above = most + 1
        let meter = Meter(id: 1, total: most, last: most, span: Ticks(5), usage: Usage(bytes: most, peak: nil))
        try await storage.save(meter)
        func code(_ body: () async throws -> Void) async -> StorageError.Code? {
            do {
                try await body()
                return nil
            } catch {
                return (error as? StorageError)?.code
            }
        }
        var wrong = [Meter](repeating: meter, count: 5)
        wrong[0].total = above
        wrong[1].last = .max
        wrong[2].span = Ticks(.max)
        wrong[3].usage.bytes = above
        wrong[4].usage.peak = .max
        for changed in wrong {
            #expect(await code { try await storage.save(changed) } == .invalidValue)
            #expect(
                await code { try await storage.write { try MeterRecord.from(changed, now: .now).insert($0.database) } }
                    == .invalidValue)
        }
        let query = storage.query(Meter.self)
        #expect(await code { try await query.updateAll { $0.total.set(to: above) } } == .invalidValue)
        #expect(await code { try await query.updateAll { $0.last.set(to: UInt64.max) } } == .invalidValue)
        #expect(await code { try await query.updateAll { $0.span.set(to: Ticks(.max)) } } == .invalidValue)
        #expect(await code { try await query.updateAll { $0.usage.bytes.set(to: above) } } == .invalidValue)
        let values: [(any StorageColumnValue)?] = [above]
        #expect(
            await code { try await storage.write { try $0.execute("UPDATE meters SET total = ?", values) } }
                == .invalidValue)
        #expect(await code { _ = try StorageKit.inMemory { $0.autoSchema(GaugeRecord.self) } } == .schemaMismatch)
        #expect(try await query.fetch() == [meter])
        #expect(try await query.where { $0.total == above }.count() == 0)
        #expect(try await query.where { $0.last == UInt64.max }.count() == 0)
        #expect(try await query.where { $0.total != above }.count() == 1)
        #expect(try await query.where { $0.usage.bytes < above }.count() == 1)
        #expect(try await query.where { $0.total >= above }.count() == 0)
        #expect(try await query.where { $0.total.in([above, most]) }.count() == 1)
        #expect(try await query.where { $0.total.between(most, above) }.count() == 1)
        #expect(try await query.updateAll { $0.total.set(to: 7) } == 1)
        #expect(try await storage.get(Meter.self, id: 1)?.total == 7)
    }
}
