import EntityTestSupport
import Foundation
import GRDB
import StorageEntities
import StorageKit
import StorageMaintenance
import TestSupport
import Testing

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

    /// A text whose column would make a number of some of its values.
    struct Code: StorageColumnValue, Codable, Equatable {
        var text: String

        static var columnType: String { "NUMERIC" }
        var storageValue: StorageValue { .text(text) }

        init(_ text: String) { self.text = text }
        init(storageValue: StorageValue) throws { text = try String(storageValue: storageValue) }
    }

    /// A number whose column has no -0.0.
    struct Level: StorageColumnValue, Codable, Equatable {
        var number: Double

        static var columnType: String { "DECIMAL(10,5)" }
        var storageValue: StorageValue { number.storageValue }

        init(_ number: Double) { self.number = number }
        init(storageValue: StorageValue) throws { number = try Double(storageValue: storageValue) }
    }

    /// A text in a column of whole numbers that holds no other texts than those that it reads back from them.
    struct Count: StorageColumnValue, Codable, Equatable {
        var number: Int

        static var columnType: String { "INTEGER" }
        var storageValue: StorageValue { .text(String(number)) }

        init(_ number: Int) { self.number = number }
        init(storageValue: StorageValue) throws { number = try Int(storageValue: storageValue) }
    }

    /// A text with another form for numbers, which isn't found before one is stored.
    struct Mark: StorageColumnValue, Codable, Equatable {
        var text: String

        static var columnType: String { "NUMERIC" }
        var storageValue: StorageValue { .text(text) }

        init(_ text: String) { self.text = text }
        init(storageValue: StorageValue) throws {
            text = try String(storageValue: storageValue)
            guard text.hasPrefix("9") || text.hasPrefix("x") else { throw CancellationError() }
        }
    }

    /// A date as a text, which its column keeps.
    struct Day: StorageColumnValue, Codable, Equatable {
        var text: String

        static var columnType: String { "DATETIME" }
        var storageValue: StorageValue { .text(text) }

        init(_ text: String) { self.text = text }
        init(storageValue: StorageValue) throws { text = try String(storageValue: storageValue) }
    }

    /// Seconds that are counted in thousandths, of which some numbers are too large.
    struct Length: StorageColumnValue, Codable, Equatable {
        var milliseconds: Int64

        static var columnType: String { "DOUBLE" }
        var storageValue: StorageValue { .real(Double(milliseconds) / 1_000) }

        init(milliseconds: Int64) { self.milliseconds = milliseconds }
        init(storageValue: StorageValue) throws { milliseconds = Int64(try Double(storageValue: storageValue) * 1_000) }
    }

    struct Coded: Embeddable { var code: Code? }

    @StorageEntity struct Ware {
        var id: Int
        var code: Code
    }
    @StorageEntity struct OptionalWare {
        var id: Int
        var code: Code?
    }
    @StorageEntity struct EmbeddedWare {
        var id: Int
        @StorageEmbedded var parts: Coded
    }
    @StorageEntity struct Tank: Equatable {
        var id: Int
        var level: Level
        var filled: Day
    }
    @StorageEntity struct Pause: Equatable {
        var id: Int
        var length: Length
    }
    @StorageEntity struct Tally: Equatable {
        var id: Int
        var count: Count
        var mark: Mark
    }

    @Test("A type whose column would change its values is refused when it is declared")
    func typeWithConvertedValues() throws {
        func refusal(_ declare: (inout Schema) -> Void) -> StorageError? {
            #expect(throws: StorageError.self) { _ = try StorageKit.inMemory { declare(&$0) } }
        }
        for error in [
            refusal { $0.autoSchema(WareRecord.self) }, refusal { $0.autoSchema(OptionalWareRecord.self) },
            refusal { $0.autoSchema(EmbeddedWareRecord.self) },
        ] {
            #expect(error?.code == .schemaMismatch)
            #expect(error?.message.contains("code\", its column of type NUMERIC would store \"007\"") == true)
            #expect(error?.message.contains("let the columnType be TEXT") == true)
        }
    }

    @Test("A type whose column keeps its usual values is declared, and a value that it would change isn't stored")
    func typeWithUnusualValues() async throws {
        let storage = try StorageKit.inMemory { $0.autoSchema(TankRecord.self) }.facade
        for level in [-0.0, 0.00001, 5.0, 1.5] {
            let tank = Tank(id: 1, level: Level(level), filled: Day("2026-01-15 10:00:00.000"))
            try await storage.save(tank)
            #expect(try await storage.get(Tank.self, id: 1) == tank)
        }
        let error = await #expect(throws: StorageError.self) {
            try await storage.save(Tank(id: 2, level: Level(1), filled: Day("007")))
        }
        #expect(error?.code == .invalidValue)
        #expect(error?.remedy.contains("convertColumn") == true)
    }

    /// Stores from before may have such a column, with values that come back as they are.
    @Test("A type whose column would change its values is declared for a column that the store has")
    func typeOfExistingColumn() async throws {
        let storage = try StorageKit.inMemory { schema in
            schema.migration("wares") { db in
                try db.execute(
                    sql: """
                        CREATE TABLE "\(WareRecord.databaseTableName)"(
                          id INTEGER PRIMARY KEY, code NUMERIC NOT NULL, updatedAt DATETIME NOT NULL);
                        INSERT INTO "\(WareRecord.databaseTableName)" VALUES (1, 'A7', '2026-01-15 10:00:00.000')
                        """)
            }
            schema.adopt(WareRecord.databaseTableName)
            schema.autoSchema(WareRecord.self)
        }.facade
        #expect(try await storage.get(Ware.self, id: 1)?.code == Code("A7"))
        try await storage.save(Ware(id: 2, code: Code("B7")))
        await #expect(throws: StorageError.self) { try await storage.save(Ware(id: 3, code: Code("007"))) }
        #expect(try await storage.count(Ware.self) == 2)
    }

    @Test("Declaring a type that converts reals to integers doesn't trap")
    func integersMadeOfReals() async throws {
        let storage = try StorageKit.inMemory { $0.autoSchema(PauseRecord.self) }.facade
        let pause = Pause(id: 1, length: Length(milliseconds: 1_500))
        try await storage.save(pause)
        #expect(try await storage.get(Pause.self, id: 1) == pause)
    }

    @Test("A column isn't converted to a type whose values it would change")
    func conversionToUnsuitableType() throws {
        let error = #expect(throws: StorageError.self) {
            _ = try StorageKit.inMemory { schema in
                schema.migration("wares") { db in
                    try db.execute(
                        sql: """
                            CREATE TABLE "\(WareRecord.databaseTableName)"(
                              id INTEGER PRIMARY KEY, code TEXT NOT NULL, updatedAt DATETIME NOT NULL)
                            """)
                }
                schema.adopt(WareRecord.databaseTableName)
                schema.convertColumn("code", of: WareRecord.databaseTableName, to: Code.self) { $0 }
            }
        }
        #expect(error?.code == .schemaMismatch)
        #expect(error?.message.contains("can't be converted: of \"code\", its column of type NUMERIC") == true)
    }

    @Test("A value that its column would change isn't stored")
    func convertedValue() async throws {
        let storage = try StorageKit.inMemory { $0.autoSchema(TallyRecord.self) }.facade
        let tally = Tally(id: 1, count: Count(7), mark: Mark("x1"))
        try await storage.save(tally)
        #expect(try await storage.get(Tally.self, id: 1) == tally)
        let wrong = Tally(id: 1, count: Count(7), mark: Mark("9.10"))
        let error = await #expect(throws: StorageError.self) { try await storage.save(wrong) }
        #expect(error?.code == .invalidValue)
        #expect(error?.message.hasPrefix("\"9.10\" of a Mark would become 9.1 in a column of type NUMERIC") == true)
        await #expect(throws: StorageError.self) {
            try await storage.query(Tally.self).updateAll { $0.mark.set(to: Mark("9.10")) }
        }
        await #expect(throws: StorageError.self) {
            try await storage.write { try TallyRecord.from(wrong, now: .now).update($0.database) }
        }
        // SQL of one's own stores what the column makes of a value.
        try await storage.write { tx in
            let update = "UPDATE \"\(TallyRecord.databaseTableName)\" SET mark = ?"
            try tx.execute(update, [wrong.mark])
            let sql = "SELECT mark FROM \"\(TallyRecord.databaseTableName)\""
            #expect(try Double.fetchOne(tx.database, sql: sql) == 9.1)
            try tx.execute(update, [tally.mark])
        }
        // No column stores what a row is only compared with.
        try await storage.write { tx in
            try tx.execute(
                "DELETE FROM \"\(TallyRecord.databaseTableName)\" WHERE mark > ? AND mark < 1", [Mark("9.10")])
            #expect(try tx.deleteAll(Tally.self, where: "mark", equals: Mark("9.10")) == 0)
        }
        #expect(try await storage.get(Tally.self, id: 1) == tally)
    }

    /// A record that GRDB encodes, in columns that its author has chosen.
    struct Sheet: RegisteredEntity, StorageKitEntityRecord, Codable, Equatable {
        typealias E = Sheet
        typealias Record = Sheet
        typealias Columns = NoColumns
        static let databaseTableName = "sheets"
        static let schemaColumns = [
            ColumnSchema("id", Int.self, primaryKey: true), ColumnSchema(name: "code", type: "NUMERIC"),
            ColumnSchema(name: "size", type: "INTEGER"),
        ]

        var id: Int
        var code: String
        var size: Double

        func asEntity() -> Sheet { self }
        static func from(_ entity: Sheet, now: Date) -> Sheet { entity }
        static func key(of id: Int) -> StorageValue { id.storageValue }
    }

    /// A record whose decimals are texts, which GRDB reads from numbers too.
    struct Price: RegisteredEntity, StorageKitEntityRecord, Codable, Equatable {
        typealias E = Price
        typealias Record = Price
        typealias Columns = NoColumns
        static let databaseTableName = "prices"
        static let schemaColumns = [
            ColumnSchema("id", Int.self, primaryKey: true), ColumnSchema(name: "amount", type: "DECIMAL(10,5)"),
            ColumnSchema(name: "factor", type: "DOUBLE"),
        ]

        var id: Int
        var amount: Decimal
        var factor: Double

        func asEntity() -> Price { self }
        static func from(_ entity: Price, now: Date) -> Price { entity }
        static func key(of id: Int) -> StorageValue { id.storageValue }
    }

    /// SQLite's text of the first is 1.0e-05.
    @Test("A decimal that comes back equal is stored")
    func decimalsOfGRDBRecord() async throws {
        let storage = try StorageKit.inMemory { $0.autoSchema(Price.self) }.facade
        for text in ["0.00001", "0.00012", "-0.00012", "12.5", "100000", "0", "-7"] {
            let price = Price(id: 1, amount: try #require(Decimal(string: text)), factor: -0.0)
            try await storage.save(price)
            #expect(try await storage.get(Price.self, id: 1) == price, "\(text)")
        }
    }

    /// GRDB reads 19.99 as 19.98999999999999488.
    @Test("A decimal of 15 digits is stored, and what GRDB reads is the same value for a save")
    func decimalsThatGRDBRounds() async throws {
        let storage = try StorageKit.inMemory { $0.autoSchema(Price.self) }.facade
        var random = SplitMix64(seed: 15)
        let amounts = (0..<200).map { _ in Decimal(random.below(10_000_000)) / 100_000 }
        for amount in ["19.99", "0.07", "0.1"].compactMap({ Decimal(string: $0) }) + amounts {
            try await storage.save(Price(id: 1, amount: amount, factor: 1))
            let read = try #require(try await storage.get(Price.self, id: 1))
            #expect(abs(read.amount - amount) < Decimal(sign: .plus, exponent: -12, significand: 1))
            #expect(try await storage.save(read).commit == nil, "\(amount)")
        }
    }

    @Test("A decimal that GRDB reads as NaN isn't stored")
    func decimalReadAsNaN() async throws {
        let storage = try StorageKit.inMemory { $0.autoSchema(Price.self) }.facade
        for text in ["1e-110", "100000000000000000000000e127"] {
            let price = Price(id: 1, amount: try #require(Decimal(string: text)), factor: 1)
            let error = await #expect(throws: StorageError.self, "\(text)") { try await storage.save(price) }
            #expect(error?.code == .invalidValue)
        }
        #expect(try await storage.count(Price.self) == 0)
    }

    /// Foundation ends the process for Decimal(Double.infinity).
    @Test("A decimal isn't read from an infinity that SQL has stored", arguments: ["9e999", "-9e999"])
    func infiniteDecimal(number: String) async throws {
        let storage = try StorageKit.inMemory { $0.autoSchema(Price.self) }.facade
        try await storage.write {
            try $0.execute("INSERT INTO prices(id, amount, factor) VALUES (1, \(number), 1), (2, 1.5, \(number))")
        }
        let error = await #expect(throws: StorageError.self) { try await storage.get(Price.self, id: 1) }
        #expect(error?.code == .invalidValue)
        #expect(error?.message.contains("\"amount\" holds an infinity") == true)
        let price = try #require(try await storage.get(Price.self, id: 2))
        #expect(price.amount == 1.5)
        #expect(price.factor.isInfinite)
    }

    @Test("A text of which the column makes a number isn't stored if its property reads no numbers")
    func textReadFromNumber() async throws {
        let storage = try StorageKit.inMemory { $0.autoSchema(Sheet.self) }.facade
        for code in ["7", "0.5", "0.00001"] {
            let error = await #expect(throws: StorageError.self, "\(code)") {
                try await storage.save(Sheet(id: 1, code: code, size: 1.5))
            }
            #expect(error?.code == .invalidValue)
            #expect(error?.remedy.contains("TEXT") == true)
        }
        #expect(try await storage.count(Sheet.self) == 0)
    }

    @Test("A value of a GRDB record that its column would change isn't stored")
    func convertedValueOfGRDBRecord() async throws {
        let storage = try StorageKit.inMemory { $0.autoSchema(Sheet.self) }.facade
        let sheet = Sheet(id: 1, code: "A7", size: 5.0)
        try await storage.save(sheet)
        #expect(try await storage.get(Sheet.self, id: 1) == sheet)
        for code in ["007", "7.10", "+7", " 7", "-0", "1e3", "00.5", "0.1234567890123456"] {
            let error = await #expect(throws: StorageError.self, "\(code)") {
                try await storage.save(Sheet(id: 2, code: code, size: 1.5))
            }
            #expect(error?.code == .invalidValue)
        }
        #expect(try await storage.count(Sheet.self) == 1)
    }
}
