import Foundation
import GRDB
import StorageEntities
import StorageKit
import StorageMaintenance
import StorageTesting
import TestSupport
import Testing

struct Address: Embeddable {
    var street: String
    var city: String
    var zipCode: String?
    var kind: Kind
    var floor: Int
    var since: Date?

    enum Kind: String, Codable, CaseIterable { case house, flat }
}

struct Extras: Codable, Equatable, Sendable {
    var tags: [String]
    var when: Date
    var scores: [String: Double]
}

@StorageEntity
struct Author: Equatable {
    var id: String
    var name: String
    var status: String = "it's \"new\""
    var level: Int = -2
    @StorageEmbedded(prefix: "home_") var home: Address
    @StorageEmbedded var work: Address?
    @StorageJSON var settings: [String: Int]
    @StorageJSON var extras: Extras?
    @StorageHasMany(foreignKey: "authorId") var books: [Volume]
}

@StorageEntity
struct Volume: Equatable {
    var id: Int
    var title: String
    var authorId: String
    @StorageBelongsTo(onDelete: .cascade) var author: Author?
    var editorId: String?
    @StorageBelongsTo(foreignKey: "editorId", onDelete: .setNull) var editor: Author?
}

/// Every feature of the macros, against a real store.
@Suite struct MacroFeatureTests {
    private func open() throws -> Storage {
        try StorageKit.inMemory { $0.autoSchema(AuthorRecord.self, VolumeRecord.self) }.facade
    }

    static func author(_ id: String = "a", city: String = "Kyiv") -> Author {
        Author(
            id: id, name: "Anna",
            home: Address(street: "Main 1", city: city, zipCode: nil, kind: .flat, floor: 3, since: nil),
            work: nil, settings: ["b": 2, "a": 1],
            extras: Extras(
                tags: ["x", "ü"], when: Date(timeIntervalSinceReferenceDate: 1.0 / 3 + 700_000_000), scores: ["pi": .pi]
            ),
            books: [])
    }

    @Test("Embedded and JSON properties round-trip")
    func embeddedAndJSONProperties() async throws {
        let storage = try open()
        var author = Self.author()
        for round in 0..<4 {
            try await storage.save(author)
            #expect(try await storage.get(Author.self, id: "a") == author, "round \(round)")
            #expect(try await storage.all(Author.self) == [author])
            // Saving what is there writes nothing, in spite of dictionaries without an order.
            #expect(try await storage.save(author).commit == nil)
            let viaGRDB = try await storage.read { try AuthorRecord.fetchOne($0)?.asEntity() }
            #expect(viaGRDB == author)
            switch round {
            case 0:
                author.work = Address(
                    street: "", city: "Lviv", zipCode: "79000", kind: .house, floor: -1,
                    since: Date(timeIntervalSinceReferenceDate: 0.1))
            case 1: author.extras = nil
            default: author.work = nil
            }
        }
        let columns = try await storage.read { db in try db.columns(in: "authors").map(\.name) }
        #expect(columns.contains("home_zipCode"))
        #expect(columns.contains("work_city"))
        #expect(!columns.contains("books"))
        let last = try #require(try await storage.history(Author.self, id: "a").last)
        #expect(last.new?.contains { $0.column == "work_city" && $0.value == .null } ?? false)
        #expect(try await storage.verify().isSound)
    }

    @Test("Dates in JSON keep every bit", arguments: testSeeds(1))
    func datesInJSON(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let storage = try open()
        var author = Self.author()
        let odd = [0, -0.0, 1e-25, -1e-300, -63_114_076_801, 252_423_993_600, 1e15, -1e300, 0.1 + 0.2]
        for seconds in odd + (0..<200).map({ _ in Double.random(in: -3e9...3e9, using: &random) }) {
            let date = Date(timeIntervalSinceReferenceDate: seconds)
            author.extras?.when = date
            try await storage.save(author)
            #expect(try await storage.get(Author.self, id: "a")?.extras?.when == date)
        }
    }

    @Test("Embedded columns can be queried")
    func embeddedColumnsInQueries() async throws {
        let storage = try open()
        try await storage.save([Self.author("a"), Self.author("b", city: "Lviv"), Self.author("c")])
        let found = try await storage.query(Author.self).where { $0.home.city == "Kyiv" }.orderBy(\.id, .descending)
            .fetch()
        #expect(found.map(\.id) == ["c", "a"])
        #expect(try await storage.query(Author.self).where { _ in Column<String>("home_city") == "Lviv" }.count() == 1)
        #expect(try await storage.query(Author.self).where { $0.home.kind == .flat && $0.home.floor > 2 }.count() == 3)
        #expect(try await storage.query(Author.self).where { $0.work.city.isNull }.count() == 3)
        #expect(try await storage.query(Author.self).where { $0.work.city != "Lviv" }.count() == 3)
        #expect(try await storage.query(Author.self).where { $0.home.zipCode == nil }.count() == 3)
        #expect(try await storage.all(Author.self, orderBy: "home_city").last?.id == "b")
    }

    @StorageEntity struct Form: Equatable {
        var id: Int
        @StorageJSON var name: String
        @StorageJSON var kind: Address.Kind?
        @StorageJSON var prices: [Decimal]
    }

    @Test("A column of JSON is set to a value as JSON, and compared with NULL")
    func queriesOfJSON() async throws {
        let storage = try StorageKit.inMemory { $0.autoSchema(FormRecord.self) }.facade
        try await storage.save(Form(id: 1, name: "Anna", kind: .flat, prices: [1.5]))
        let forms = storage.query(Form.self)
        #expect(try await forms.where { $0.kind.isNull }.count() == 0)
        try await forms.updateAll {
            $0.name.set(to: "Ben")
            $0.kind.set(to: nil)
            $0.prices.set(to: [])
        }
        let changed = Form(id: 1, name: "Ben", kind: nil, prices: [])
        #expect(try await storage.get(Form.self, id: 1) == changed)
        #expect(try await forms.where { $0.kind.isNull }.count() == 1)
        // What is saved and what an update writes is the same text.
        let head = storage.head
        try await storage.save(changed)
        #expect(storage.head == head)
        #expect(try await forms.where { _ in Column<String>("name") == "\"Ben\"" }.count() == 1)
    }

    @Test("A Decimal that is NaN isn't written as JSON")
    func decimalThatIsNaN() async throws {
        let storage = try StorageKit.inMemory { $0.autoSchema(FormRecord.self) }.facade
        let form = Form(id: 1, name: #"NaN \" N"#, kind: nil, prices: [1])
        try await storage.save(form)
        for prices in [[Decimal.nan], [1, .nan, 2]] {
            let wrong = Form(id: 1, name: "a", kind: nil, prices: prices)
            await #expect(throws: StorageError.self) { try await storage.save(wrong) }
            await #expect(throws: StorageError.self) {
                try await storage.query(Form.self).updateAll { $0.prices.set(to: prices) }
            }
        }
        #expect(try await storage.all(Form.self) == [form])
    }

    struct Code: RawRepresentable, StorageColumnValue, Hashable, Codable {
        var rawValue: Int

        static var columnType: String { "TEXT" }
        var storageValue: StorageValue { .text("c\(rawValue)") }
        init(rawValue: Int) { self.rawValue = rawValue }
        init(storageValue: StorageValue) throws {
            let text = try String(storageValue: storageValue)
            self.init(rawValue: Int(text.dropFirst()) ?? 0)
        }
    }

    @StorageEntity struct Coded: Equatable {
        var id: Code
        var code: Code
        var other: Code?
    }

    @Test("A type with raw values and a column form of its own is stored in that form")
    func rawValuesWithColumnForm() async throws {
        let storage = try StorageKit.inMemory { $0.autoSchema(CodedRecord.self) }.facade
        let coded = Coded(id: Code(rawValue: 1), code: Code(rawValue: 2), other: nil)
        try await storage.save(coded)
        #expect(try await storage.get(Coded.self, id: coded.id) == coded)
        #expect(try await storage.query(Coded.self).where { $0.code == coded.code && $0.other == nil }.count() == 1)
        try await storage.query(Coded.self).updateAll { $0.other.set(to: Code(rawValue: 3)) }
        #expect(try await storage.query(Coded.self).where { $0.other.in([Code(rawValue: 3)]) }.count() == 1)
        #expect(try await storage.query(Coded.self).where { _ in Column<String>("other") == "c3" }.count() == 1)
    }

    @Test("Defaults fill in for earlier rows")
    func defaultsForEarlierRows() async throws {
        let folder = try TemporaryFolder()
        let url = URL(fileURLWithPath: folder.path("a.sqlite"))
        let first = try StorageKit.start(at: url) { $0.autoSchema(Old.ThingRecord.self) }.facade
        try await first.save(Old.Thing(id: "a"))
        try await first.close()
        let second = try StorageKit.start(at: url) { $0.autoSchema(New.ThingRecord.self) }.facade
        let thing = try #require(try await second.get(New.Thing.self, id: "a"))
        #expect(thing == New.Thing(id: "a"))
        #expect(thing.text == "it's \"new\"")
        #expect(thing.number == -7)
        #expect(thing.ratio == 2.5)
        #expect(thing.flag)
        #expect(thing.kind == .flat)
        #expect(thing.timeout == 3600)
        #expect(thing.least == -.infinity)
        #expect(thing.names == [nil, "a"])
        #expect(thing.remark.isEmpty)
        #expect(thing.pause == 60)
        #expect(thing.tags.isEmpty)
        try await second.rebuild()
        #expect(try await second.get(New.Thing.self, id: "a") == thing)
        #expect(try await second.verify().isSound)
        try await second.close()
    }

    @Test("A property whose initial value isn't constant isn't added with another value")
    func initialValueThatIsNotConstant() async throws {
        let folder = try TemporaryFolder()
        let url = URL(fileURLWithPath: folder.path("a.sqlite"))
        let first = try StorageKit.start(at: url) { $0.autoSchema(Old.ThingRecord.self) }.facade
        try await first.save(Old.Thing(id: "a"))
        try await first.close()
        #expect(throws: StorageError.self) {
            try StorageKit.start(at: url) { $0.autoSchema(Computed.ThingRecord.self) }
        }
        let new = try StorageKit.inMemory { $0.autoSchema(Computed.ThingRecord.self) }.facade
        try await new.save(Computed.Thing(id: "a"))
        #expect(try await new.get(Computed.Thing.self, id: "a")?.limit == 10)
    }

    @Test("An embedded property with an initial value isn't added with another value")
    func initialValueOfEmbeddedProperty() async throws {
        let folder = try TemporaryFolder()
        let url = URL(fileURLWithPath: folder.path("a.sqlite"))
        let first = try StorageKit.start(at: url) { $0.autoSchema(Old.ThingRecord.self) }.facade
        try await first.save(Old.Thing(id: "a"))
        try await first.close()
        let error = #expect(throws: StorageError.self) {
            try StorageKit.start(at: url) { $0.autoSchema(TwoParts.ThingRecord.self) }
        }
        #expect(error?.code == .schemaMismatch)
        #expect(error?.remedy.contains("initial value") == true)
        let new = try StorageKit.inMemory { $0.autoSchema(TwoParts.ThingRecord.self) }.facade
        try await new.save(TwoParts.Thing(id: "a"))
        #expect(try await new.get(TwoParts.Thing.self, id: "a")?.size == TwoParts.Size(width: 1, height: 1))
    }

    @Test("A part that is added to an embedded property with an initial value is neutral in earlier rows")
    func addedPart() async throws {
        let folder = try TemporaryFolder()
        let url = URL(fileURLWithPath: folder.path("a.sqlite"))
        let first = try StorageKit.start(at: url) { $0.autoSchema(OnePart.ThingRecord.self) }.facade
        try await first.save(OnePart.Thing(id: "a", size: OnePart.Size(width: 3)))
        try await first.close()
        let second = try StorageKit.start(at: url) { $0.autoSchema(TwoParts.ThingRecord.self) }.facade
        #expect(try await second.get(TwoParts.Thing.self, id: "a")?.size == TwoParts.Size(width: 3, height: 0))
    }

    /// Neither an initial value nor the lack of one helps.
    @Test("The remedy for a part that has no value for earlier rows is one that helps")
    func partWithoutNeutralValue() async throws {
        let folder = try TemporaryFolder()
        let url = URL(fileURLWithPath: folder.path("a.sqlite"))
        let first = try StorageKit.start(at: url) { $0.autoSchema(Old.ThingRecord.self) }.facade
        try await first.save(Old.Thing(id: "a"))
        try await first.close()
        let errors = [
            #expect(throws: StorageError.self) {
                try StorageKit.start(at: url) { $0.autoSchema(RequiredHome.ThingRecord.self) }
            },
            #expect(throws: StorageError.self) {
                try StorageKit.start(at: url) { $0.autoSchema(InitialHome.ThingRecord.self) }
            },
        ]
        for error in errors {
            #expect(error?.code == .schemaMismatch)
            let remedy = error?.remedy ?? ""
            #expect(remedy.contains("the embedded property or this part of it optional"), "\(remedy)")
            #expect(!remedy.contains("value"), "\(remedy)")
        }
        let second = try StorageKit.start(at: url) { $0.autoSchema(OptionalHome.ThingRecord.self) }.facade
        let thing = try #require(try await second.get(OptionalHome.Thing.self, id: "a"))
        #expect(thing.home == nil)
        try await second.close()
    }

    struct Home: Embeddable, Equatable {
        var kind: Address.Kind
    }

    enum RequiredHome {
        @StorageEntity(table: "things") struct Thing {
            var id: String
            @StorageEmbedded var home: Home
        }
    }

    enum InitialHome {
        @StorageEntity(table: "things") struct Thing {
            var id: String
            @StorageEmbedded var home: Home = Home(kind: .flat)
        }
    }

    enum OptionalHome {
        @StorageEntity(table: "things") struct Thing {
            var id: String
            @StorageEmbedded var home: Home?
        }
    }

    enum OnePart {
        struct Size: Embeddable, Equatable {
            var width: Int
        }

        @StorageEntity(table: "things") struct Thing {
            var id: String
            @StorageEmbedded var size: Size = Size(width: 1)
        }
    }

    enum TwoParts {
        struct Size: Embeddable, Equatable {
            var width: Int
            var height: Int
        }

        @StorageEntity(table: "things") struct Thing {
            var id: String
            @StorageEmbedded var size: Size = Size(width: 1, height: 1)
        }
    }

    enum Computed {
        static let limit = 10
        @StorageEntity(table: "things") struct Thing {
            var id: String = UUID().uuidString
            var limit: Int = Computed.limit
        }
    }

    enum Old { @StorageEntity(table: "things") struct Thing { var id: String } }
    enum New {
        @StorageEntity(table: "things") struct Thing: Equatable {
            var id: String
            var text: String = "it's \"new\""
            var number: Int = -7
            var ratio: Double = 2.5
            var flag: Bool = true
            var kind: Address.Kind = .flat
            var maybe: String?
            var timeout: Int = 60 * 60
            var most: Int = Int.max
            var other: Address.Kind = Address.Kind.flat
            var isOpen: Bool = !false
            var least: Double = -.infinity
            var few: Int = (5)
            var five: Int? = Int(5)
            var remark: String = .init()
            var pause: TimeInterval = TimeInterval(60)
            @StorageJSON var tags: [String] = .init()
            var flags: UInt8 = (1 << 3) | ~0
            var data: Data = Data()
            @StorageJSON var names: [String?] = [nil, "a"]
        }
    }

    @Test("Delete rules act, and are captured")
    func deleteRules() async throws {
        let storage = try open()
        try await storage.save([Self.author("a"), Self.author("e")])
        try await storage.save([
            Volume(id: 1, title: "one", authorId: "a", editorId: "e"), Volume(id: 2, title: "two", authorId: "a"),
            Volume(id: 3, title: "three", authorId: "e", editorId: "a"),
        ])
        await #expect(throws: StorageError.self) {
            try await storage.save(Volume(id: 9, title: "lost", authorId: "nobody"))
        }
        try await storage.delete(Author.self, id: "a")
        #expect(try await storage.all(Volume.self).map(\.id) == [3])
        #expect(try await storage.get(Volume.self, id: 3)?.editorId == nil)
        #expect(try await storage.history(Volume.self, id: 1).map(\.operation) == [.insert, .delete])
        #expect(try await storage.history(Volume.self, id: 3).map(\.operation) == [.insert, .update])
        #expect(try await storage.verify().isSound)
    }

    enum Bad {
        @StorageEntity(table: "bad") struct Child {
            var id: String
            var authorId: String
            @StorageBelongsTo(onDelete: .setNull) var author: Author?
        }
    }

    @Test("A required key can't be nullified")
    func requiredKeyCantBeNullified() {
        let error = #expect(throws: StorageError.self) {
            try StorageKit.inMemory { $0.autoSchema(AuthorRecord.self, Bad.ChildRecord.self) }
        }
        #expect(error?.code == .schemaMismatch)
    }

    @Test("Relationships aren't columns")
    func relationshipsAreNoColumns() async throws {
        let storage = try open()
        try await storage.save(Self.author())
        try await storage.save(Volume(id: 1, title: "one", authorId: "a"))
        #expect(try await storage.get(Author.self, id: "a")?.books == [])
        #expect(try await storage.get(Volume.self, id: 1)?.author == nil)
        #expect(AuthorRecord.foreignKey(of: \.books) == "authorId")
        #expect(VolumeRecord.foreignKey(of: \.editor) == "editorId")
    }

    @Test("Types that can't be embedded are refused with the reason")
    func typesThatCantBeEmbedded() {
        let nested = #expect(throws: StorageError.self) {
            try StorageKit.inMemory { $0.autoSchema(Wrong.NestedRecord.self) }
        }
        #expect(nested?.code == .schemaMismatch)
        #expect(nested?.message.contains("only one level") ?? false)
        let list = #expect(throws: StorageError.self) {
            try StorageKit.inMemory { $0.autoSchema(Wrong.ListedRecord.self) }
        }
        #expect(list?.message.contains("fills no column") ?? false)
    }

    enum Wrong {
        struct Outer: Embeddable { var inner: Address }
        struct Listed: Embeddable { var list: [Int] }
        @StorageEntity struct Nested { var id: String; @StorageEmbedded var outer: Outer }
        @StorageEntity(table: "lists") struct ListedHolder { var id: String; @StorageEmbedded var listed: Listed }
        typealias ListedRecord = ListedHolderRecord
    }

    @Test("An embedded value of nothing but nil is refused")
    func embeddedValueOfOnlyNil() async throws {
        let storage = try StorageKit.inMemory { $0.autoSchema(HolderRecord.self) }.facade
        try await storage.save(Holder(id: "a", pair: Pair(left: nil, right: 2)))
        try await storage.save(Holder(id: "b", pair: nil))
        let error = await #expect(throws: StorageError.self) {
            try await storage.save(Holder(id: "c", pair: Pair(left: nil, right: nil)))
        }
        #expect(error?.code == .invalidValue)
        #expect(try await storage.all(Holder.self).map(\.pair) == [Pair(left: nil, right: 2), nil])
    }

    struct Pair: Embeddable { var left: String?; var right: Int? }
    @StorageEntity struct Holder: Equatable { var id: String; @StorageEmbedded var pair: Pair? }

    struct Spot: Embeddable {
        var name: String
        var size: Int
        var note: String?
        var shown: String { "\(name) (\(size))" }
        var trimmed: String { name.trimmingCharacters(in: .whitespaces).lowercased() }
        var isSmall: Bool { size < 10 }
        var distance: Int { abs(size) }
    }
    @StorageEntity struct Marked: Equatable { var id: String; @StorageEmbedded var spot: Spot }

    @Test("A computed property of an embedded value isn't a column")
    func computedEmbeddedProperty() async throws {
        let storage = try StorageKit.inMemory { $0.autoSchema(MarkedRecord.self) }.facade
        try await storage.save(Marked(id: "a", spot: Spot(name: "b", size: 1, note: "n")))
        let query = storage.query(Marked.self)
        #expect(try await query.where { $0.spot.name == "b" && $0.spot.size == 1 && $0.spot.note == "n" }.count() == 1)
        for wrong in [
            query.where { $0.spot.shown == "b (1)" }, query.where { $0.spot.trimmed == "b" },
            query.where { $0.spot.isSmall == true }, query.where { $0.spot.distance == 1 },
        ] {
            let error = await #expect(throws: StorageError.self) { try await wrong.count() }
            #expect(error?.code == .invalidName)
        }
    }
}
