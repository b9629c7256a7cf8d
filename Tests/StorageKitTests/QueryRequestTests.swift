import GRDB
import StorageEntities
import StorageKit
import StorageTesting
import Testing

/// Requests that are put together from the entity alone, and what a store answers to them.
@Suite struct QueryRequestTests {
    @StorageEntity
    struct Task: Equatable {
        var id: Int
        var isCompleted: Bool
        var priority: Int
        var createdAt: Date
    }

    private static let tasks = (0..<40).map { id in
        Task(
            id: id, isCompleted: id % 3 != 0, priority: id % 4,
            // Neither in the order of the ids nor backwards.
            createdAt: Date(timeIntervalSinceReferenceDate: Double(id * 17 % 40)))
    }

    private static let sorted = tasks.sorted { $0.createdAt < $1.createdAt }

    private func fetch<E: RegisteredEntity>(_ request: QueryRequest<E>, in storage: Storage) async throws -> [E] {
        var query = storage.query(E.self)
        query.request = request
        return try await query.fetch()
    }

    private func open() async throws -> Storage {
        let storage = try StorageKit.inMemory { $0.autoSchema(TaskRecord.self) }.facade
        try await storage.save(Self.tasks)
        return storage
    }

    @Test("The reference's example filters, orders and limits")
    func filterOrderAndLimit() async throws {
        let request = Task.all().filter(Task.Columns.isCompleted == true).order(by: .createdAt).limit(10)
        let found = try await fetch(request, in: try await open())
        #expect(found == Array(Self.sorted.filter(\.isCompleted).prefix(10)))
        #expect(found.count == 10)
    }

    @Test("`all` is every row in key order")
    func allRowsInKeyOrder() async throws {
        #expect(try await fetch(Task.all(), in: try await open()) == Self.tasks)
    }

    @Test("Each call returns a new request")
    func requestsAreValues() async throws {
        let storage = try await open()
        let all = Task.all()
        _ = all.filter(Task.Columns.isCompleted == true).order(by: .createdAt).limit(1)
        #expect(try await fetch(all, in: storage) == Self.tasks)
    }

    @Test("Filters and conditions must all be true")
    func filtersAreCombined() async throws {
        let storage = try await open()
        let expected = Self.tasks.filter { $0.isCompleted && $0.priority == 2 && $0.id > 5 }
        let request = Task.all().filter(Task.Columns.isCompleted == true).where { $0.priority == 2 }
            .filter(Task.Columns.id > 5)
        #expect(try await fetch(request, in: storage) == expected)
        let query = storage.query(Task.self).where { $0.id > 5 }.filter(Task.Columns.priority == 2)
            .where(Task.Columns.isCompleted == true)
        #expect(try await query.fetch() == expected)
    }

    @Test("Orderings follow each other in either direction")
    func orderings() async throws {
        let storage = try await open()
        let expected = Self.tasks.sorted {
            ($0.priority, $1.createdAt) < ($1.priority, $0.createdAt)
        }
        let request = Task.all().order(by: .priority).order(by: .createdAt, .descending)
        #expect(try await fetch(request, in: storage) == expected)
        let query = storage.query(Task.self).order(by: .priority).orderBy(\.createdAt, .descending)
        #expect(try await query.fetch() == expected)
    }

    // MARK: Names

    @StorageEntity
    struct Oddity: Equatable {
        var id: String
        var RawValue: Int
        var hashValue: Int
        var `init`: Int
        var `Type`: Int
        var `Protocol`: Int
        var `default`, `two words`: Int
        var Columns: Int
        var ColumnName: Int
    }

    @Test("Every name that can be a case is the name of its column")
    func columnNameCases() async throws {
        let stored = OddityRecord.schemaColumns.map(\.name)
        #expect(stored.filter { OddityRecord.ColumnName(rawValue: $0)?.rawValue != $0 } == ["RawValue"])
        let storage = try StorageKit.inMemory { $0.autoSchema(OddityRecord.self) }.facade
        let oddities = (0..<3).map { number in
            Oddity(
                id: "\(number)", RawValue: -number, hashValue: 0, init: -number, Type: -number,
                Protocol: -number, default: -number, `two words`: -number, Columns: -number, ColumnName: -number)
        }
        try await storage.save(oddities)
        let names: [OddityRecord.ColumnName] = [
            .`init`, .`Type`, .`Protocol`, .default, .`two words`, .Columns, .ColumnName,
        ]
        for name in names {
            let found = try await fetch(Oddity.all().order(by: .hashValue).order(by: name), in: storage)
            #expect(found == oddities.reversed(), "\(name)")
        }
        #expect(try await fetch(Oddity.all().orderBy("RawValue"), in: storage) == oddities.reversed())
    }

    @Test("Columns of embedded properties are for conditions only")
    func embeddedColumnsInConditions() async throws {
        let storage = try StorageKit.inMemory { $0.autoSchema(AuthorRecord.self, VolumeRecord.self) }.facade
        try await storage.save([MacroFeatureTests.author("a"), MacroFeatureTests.author("b", city: "Lviv")])
        let request = Author.all().filter(Author.Columns.home.city == "Lviv").order(by: .level)
        #expect(try await fetch(request, in: storage).map(\.id) == ["b"])
        #expect(AuthorRecord.ColumnName(rawValue: "home") == nil)
        #expect(AuthorRecord.ColumnName(rawValue: "home_city") == nil)
        #expect(AuthorRecord.ColumnName(rawValue: "settings") == .settings)
    }

    @Test("A hand-written record needs no names")
    func handWrittenRecord() async throws {
        let storage = try StorageKit.inMemory { $0.autoSchema(ReferenceCoreTypesTests.CoinRow.self) }.facade
        try await storage.save([
            ReferenceCoreTypesTests.Coin(id: 1, country: "UA", found: nil),
            ReferenceCoreTypesTests.Coin(id: 2, country: "FI", found: nil),
        ])
        let request = ReferenceCoreTypesTests.Coin.all().filter(Column<Int>("id") > 0).orderBy("country")
        #expect(try await fetch(request, in: storage).map(\.id) == [2, 1])
        #expect(NoColumnName(rawValue: "id") == nil)
    }

    // MARK: Members of the entity's own

    @StorageEntity
    struct Town: Equatable {
        var id: String

        static func all() -> [String] { ["own"] }
        enum Columns: String { case own }
    }

    @StorageEntity
    struct Village: Equatable {
        var id: String
        var all: Int

        static let all = ["own"]
    }

    private func request<E: RegisteredEntity>(for type: E.Type) -> QueryRequest<E> { E.all() }

    @Test("Members of the entity's own win")
    func ownMembersWin() async throws {
        let storage = try StorageKit.inMemory { $0.autoSchema(TownRecord.self, VillageRecord.self) }.facade
        try await storage.save([Town(id: "t")])
        try await storage.save([Village(id: "v", all: 1)])
        let towns = Town.all()
        let villages = Village.all
        #expect(towns == ["own"])
        #expect(villages == ["own"])
        #expect(Town.Columns.own.rawValue == "own")
        let request: QueryRequest<Town> = Town.all()
        #expect(try await fetch(request, in: storage).map(\.id) == ["t"])
        #expect(try await fetch(self.request(for: Village.self).order(by: .all), in: storage).map(\.id) == ["v"])
        #expect(try await storage.query(Village.self).filter(Village.Columns.all == 1).count() == 1)
    }

    /// An entity that is its own record has an `all` of GRDB's, too.
    struct Ledger: RegisteredEntity, StorageKitEntityRecord, Codable, Equatable {
        typealias E = Ledger
        typealias Record = Ledger
        typealias Columns = NoColumns
        static let databaseTableName = "ledgers"
        static let schemaColumns = [
            ColumnSchema("id", Int.self, primaryKey: true), ColumnSchema("sum", Int.self),
        ]

        var id: Int
        var sum: Int

        func asEntity() -> Ledger { self }
        static func from(_ entity: Ledger, now: Date) -> Ledger { entity }
        static func key(of id: Int) -> StorageValue { id.storageValue }

        func write(to row: RowWriter) throws {
            try row.write(id, at: 1)
            try row.write(sum, at: 2)
        }
    }

    @Test("An entity can be its own record")
    func entityAsItsOwnRecord() async throws {
        let storage = try StorageKit.inMemory { $0.autoSchema(Ledger.self) }.facade
        let ledgers = [Ledger(id: 1, sum: 5), Ledger(id: 2, sum: 7)]
        try await storage.save(ledgers)
        let request: QueryRequest<Ledger> = Ledger.all().filter(Column<Int>("sum") > 5)
        #expect(try await fetch(request, in: storage) == [ledgers[1]])
        #expect(try await storage.read { try Ledger.all().fetchAll($0) } == ledgers)
    }
}

extension QueryRequestTests.Ledger {
    init(reading row: RowReader) throws {
        self.init(id: try row.read(Int.self, at: 0), sum: try row.read(Int.self, at: 1))
    }
}
