// Without Foundation beside it: `Predicate` and `Column` are then those of StorageKit.
import StorageEntities
import StorageKit
import Testing

/// The reference's chapter on queries: every operator and every call, and what SQLite answers.
@Suite struct ReferenceQueriesTests {
    @StorageEntity
    struct Worker {
        var id: String
        var first: String
        var last: String
        var email: String
        var age: Int
        var wage: Double
        var isActive: Bool
        var hired: Date
        var role: String
        var phone: String?
    }

    private static func day(_ number: Double) -> Date { Date(timeIntervalSinceReferenceDate: number * 86_400) }

    private static let workers = [
        Worker(
            id: "1", first: "Olha", last: "Bondar", email: "admin@mill.example", age: 17, wage: 10, isActive: true,
            hired: day(1), role: "smith", phone: nil),
        Worker(
            id: "2", first: "Taras", last: "Bondar", email: "taras@mill.example", age: 18, wage: 99.5, isActive: false,
            hired: day(2), role: "miller", phone: "200"),
        Worker(
            id: "3", first: "Ivan", last: "Koval", email: "admin@forge.example", age: 64, wage: 100, isActive: true,
            hired: day(3), role: "smith", phone: "300"),
        Worker(
            id: "4", first: "Maria", last: "Ivanenko", email: "maria@spam.example", age: 65, wage: 200.25,
            isActive: true, hired: day(4), role: "baker", phone: "+4 100"),
    ]

    private func open() async throws -> Storage {
        let storage = try StorageKit.inMemory { $0.autoSchema(WorkerRecord.self) }.facade
        try await storage.save(Self.workers)
        return storage
    }

    private typealias Condition = (ColumnRef<Worker>) -> RowPredicate

    /// Holds each condition to the ids that it must find; the opposite must find the rest.
    private func expect(_ cases: [(Condition, [String])]) async throws {
        let storage = try await open()
        for (number, (condition, ids)) in cases.enumerated() {
            let query = storage.query(Worker.self)
            #expect(try await query.where(condition).fetch().map(\.id) == ids, "\(number)")
            let rest = try await query.where { !condition($0) }.fetch().map(\.id)
            #expect(rest == Self.workers.map(\.id).filter { !ids.contains($0) }, "not \(number)")
        }
    }

    @Test("A column is named by hand or by its property")
    func namingColumns() async throws {
        let age = Column<Int>("age")
        #expect(age.name == "age")
        #expect(WorkerRecord.columns.age == age)
        let predicate: RowPredicate = age >= 18 && Column<String>("role") == "smith"
        try await expect([
            ({ _ in predicate }, ["3"]), ({ $0.age >= 18 && $0.role == "smith" }, ["3"]),
            ({ $0["role", as: String.self] == "baker" }, ["4"]),
        ])
        let query = try await open().query(Worker.self)
        #expect(try await query.where(predicate).fetch().map(\.id) == ["3"])
        #expect(try await query.where { Column<String>("role") == "baker" }.where(age > 18).fetch().map(\.id) == ["4"])
    }

    @Test("Equality works for every type")
    func equalityForEveryType() async throws {
        try await expect([
            ({ $0.first == "Taras" }, ["2"]), ({ $0.first != "Taras" }, ["1", "3", "4"]),
            ({ $0.phone == "200" }, ["2"]), ({ $0.phone != "200" }, ["1", "3", "4"]),
            ({ $0.phone == nil }, ["1"]), ({ $0.phone != nil }, ["2", "3", "4"]),
            ({ $0.age == 64 }, ["3"]), ({ $0.age != 64 }, ["1", "2", "4"]),
            ({ $0.wage == 99.5 }, ["2"]), ({ $0.isActive == true }, ["1", "3", "4"]),
            ({ $0.isActive == false }, ["2"]), ({ $0.hired == Self.day(2) }, ["2"]),
        ])
    }

    @Test("Numbers and dates are compared by order")
    func orderForNumbersAndDates() async throws {
        try await expect([
            ({ $0.age < 18 }, ["1"]), ({ $0.age > 18 }, ["3", "4"]), ({ $0.age <= 18 }, ["1", "2"]),
            ({ $0.age >= 18 }, ["2", "3", "4"]), ({ $0.wage < 99.5 }, ["1"]), ({ $0.wage > 99.5 }, ["3", "4"]),
            ({ $0.wage <= 99.5 }, ["1", "2"]), ({ $0.wage >= 100.0 }, ["3", "4"]),
            ({ $0.hired < Self.day(2) }, ["1"]), ({ $0.hired > Self.day(2) }, ["3", "4"]),
            ({ $0.hired <= Self.day(2) }, ["1", "2"]), ({ $0.hired >= Self.day(3) }, ["3", "4"]),
            ({ $0.wage >= 10.0 && $0.wage <= 100.0 }, ["1", "2", "3"]),
        ])
    }

    @Test("Texts are matched by their parts")
    func partsOfTexts() async throws {
        try await expect([
            ({ $0.last.contains("van") }, ["4"]), ({ $0.email.hasPrefix("admin@") }, ["1", "3"]),
            ({ $0.email.hasSuffix("@mill.example") }, ["1", "2"]), ({ $0.last.contains("%") }, []),
            ({ $0.email.hasPrefix("dmin@") }, []), ({ $0.email.hasSuffix("@mill.") }, []),
        ])
        let storage = try await open()
        // NULL has no parts, and the opposite of unknown is unknown.
        #expect(try await storage.query(Worker.self).where { $0.phone.contains("00") }.count() == 3)
        #expect(try await storage.query(Worker.self).where { !$0.phone.contains("300") }.count() == 2)
    }

    @Test("Null has conditions of its own")
    func nullConditions() async throws {
        try await expect([({ $0.phone.isNull }, ["1"]), ({ $0.phone.isNotNull }, ["2", "3", "4"])])
    }

    @Test("Conditions are combined with and, or, not")
    func logicalOperators() async throws {
        try await expect([
            ({ $0.age >= 18 && $0.isActive == true }, ["3", "4"]),
            ({ $0.wage >= 10.0 && $0.wage <= 100.0 && $0.isActive == true }, ["1", "3"]),
            ({ $0.role == "baker" || $0.role == "miller" }, ["2", "4"]),
            ({ !($0.email.hasSuffix("@spam.example")) }, ["1", "2", "3"]),
            ({ !($0.wage < 50.0 || $0.isActive == false) }, ["3", "4"]),
            ({ ($0.role == "smith" || $0.role == "baker") && $0.wage <= 100.0 }, ["1", "3"]),
            ({ $0.role == "smith" || $0.role == "baker" && $0.wage <= 100.0 }, ["1", "3"]),
        ])
    }

    @Test("Several `where`s must all hold")
    func severalWheres() async throws {
        let query = try await open().query(Worker.self)
            .where { $0.age >= 18 }
            .where { $0.role == "smith" || $0.role == "baker" }
            .where { $0.email.hasSuffix(".example") }
        #expect(try await query.fetch().map(\.id) == ["3", "4"])
    }

    @Test("Rows are sorted by one column, then by the next")
    func sorting() async throws {
        let query = try await open().query(Worker.self)
        #expect(try await query.orderBy("first").fetch().map(\.id) == ["3", "4", "1", "2"])
        #expect(try await query.orderBy("hired", .descending).fetch().map(\.id) == ["4", "3", "2", "1"])
        let byName = query.orderBy("last", RowOrder.ascending).orderBy("first", .descending)
        #expect(try await byName.fetch().map(\.id) == ["2", "1", "4", "3"])
        // A query is a value: what was put on one isn't on another.
        #expect(try await query.fetch().map(\.id) == ["1", "2", "3", "4"])
    }

    @Test("Limit and offset cut out a part")
    func limitAndOffset() async throws {
        let query = try await open().query(Worker.self).orderBy("wage", .descending)
        #expect(try await query.limit(2).fetch().map(\.id) == ["4", "3"])
        #expect(try await query.limit(2).offset(1).fetch().map(\.id) == ["3", "2"])
        #expect(try await query.where { $0.isActive == true }.limit(1).fetchOne()?.id == "4")
        var seen: [String] = []
        var offset = 0
        while true {
            let items = try await query.limit(3).offset(offset).fetch()
            guard !items.isEmpty else { break }
            seen += items.map(\.id)
            offset += items.count
        }
        #expect(seen == ["4", "3", "2", "1"])
        // What answers one, counts or deletes keeps to the part as well.
        #expect(try await query.offset(2).fetchOne()?.id == "2")
        #expect(try await query.limit(0).fetchOne() == nil)
        #expect(try await query.limit(2).offset(3).count() == 1)
        #expect(try await query.limit(1).deleteAll() == 1)
        #expect(try await query.fetch().map(\.id) == ["3", "2", "1"])
    }

    @Test("One, none and how many")
    func oneOrNoneAndCount() async throws {
        let storage = try await open()
        #expect(try await storage.query(Worker.self).where { $0.role == "smith" }.fetchOne()?.id == "1")
        #expect(try await storage.query(Worker.self).where { $0.role == "tailor" }.fetchOne() == nil)
        #expect(try await storage.query(Worker.self).where { $0.role == "tailor" }.fetch().isEmpty)
        #expect(try await storage.query(Worker.self).where { $0.age >= 18 }.count() == 3)
        let hasBaker = try await storage.query(Worker.self).where { $0.role == "baker" }.count() > 0
        #expect(hasBaker)
    }

    @Test("Matching rows are deleted and counted")
    func deletingMatches() async throws {
        let storage = try await open()
        #expect(try await storage.query(Worker.self).where { $0.isActive == false }.deleteAll() == 1)
        #expect(try await storage.query(Worker.self).where { $0.hired < Self.day(2) }.deleteAll() == 1)
        #expect(try await storage.all(Worker.self).map(\.id) == ["3", "4"])
    }

    @Test("A page and the total count")
    func pageAndTotal() async throws {
        let active = try await open().query(Worker.self).where { $0.isActive == true }
        let (limit, offset) = (2, 1)
        let page = try await active.orderBy("hired", .descending).limit(limit).offset(offset).fetch()
        let total = try await active.count()
        #expect("\(offset + 1)-\(offset + page.count) of \(total)" == "2-3 of 3")
    }

    @Test("A query grows with optional criteria")
    func optionalCriteria() async throws {
        let storage = try await open()
        func search(role: String?, minimumAge: Int?, isActive: Bool?) async throws -> [String] {
            var query = storage.query(Worker.self)
            if let role { query = query.where { $0.role == role } }
            if let minimumAge { query = query.where { $0.age >= minimumAge } }
            if let isActive { query = query.where { $0.isActive == isActive } }
            return try await query.orderBy("first").fetch().map(\.first)
        }
        #expect(try await search(role: "smith", minimumAge: nil, isActive: true) == ["Ivan", "Olha"])
        #expect(try await search(role: nil, minimumAge: 18, isActive: nil) == ["Ivan", "Maria", "Taras"])
        #expect(try await search(role: nil, minimumAge: nil, isActive: nil).count == 4)
    }

    @Test("Many criteria at once")
    func manyCriteria() async throws {
        let found = try await open().query(Worker.self)
            .where { $0.wage >= 50.0 && $0.wage <= 250.0 }
            .where { $0.isActive == true }
            .where { $0.role == "smith" || $0.role == "baker" }
            .where { $0.email.contains("spam") }
            .orderBy("wage", .ascending)
            .limit(50)
            .fetch()
        #expect(found.map(\.id) == ["4"])
    }
}
