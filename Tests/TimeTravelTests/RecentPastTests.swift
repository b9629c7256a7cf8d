import EntityTestSupport
import GRDB
import StorageKit
import StorageTesting
import TestSupport
import Testing

/// Entities of a large table are read as they were shortly before, without a copy of the table.
@Suite struct RecentPastTests {
    static let rows = 6_000

    private let store: TemporaryStore
    private var storage: Storage { store.storage }

    init() async throws {
        store = try TemporaryStore { $0.autoSchema(PersonRecord.self, NoteRecord.self) }
        try await storage.save(
            (0..<Self.rows).map { Person(id: "p\($0)", name: "n\($0 % 7)", age: $0 % 90, score: Double($0)) })
    }

    private func change(_ random: inout SplitMix64) async throws {
        let changes = (0..<3).map { _ in
            (id: "p\(random.below(12) * 500)", kind: random.below(3), age: random.below(90))
        }
        try await storage.write { tx in
            for change in changes {
                switch change.kind {
                case 0: try tx.delete(Person.self, id: change.id)
                case 1: try tx.save(Person(id: change.id, name: "changed", age: nil, score: 1))
                default: try tx.save(Person(id: change.id + "-new", name: "n3", age: change.age, score: 2.5))
                }
            }
        }
    }

    /// Changes the people several times.
    ///
    /// - Returns: The positions before the first change and after each one, all different.
    private func changes(_ count: Int, _ random: inout SplitMix64) async throws -> [Int64] {
        var points = [storage.head]
        for round in 0..<count {
            try await change(&random)
            // A change may leave all rows as they are.
            try await storage.save(Note(id: 2, text: "\(round)"))
            points.append(storage.head)
        }
        return points
    }

    /// Makes what was until now an old past.
    private func addManyEvents() async throws {
        try await storage.write { tx in
            for text in 0..<1_100 { try tx.save(Note(id: 1, text: "\(text)")) }
        }
    }

    private static func isView(_ past: StorageSnapshot) async throws -> Bool {
        try await past.query(Person.self).reading { db in
            try Bool.fetchOne(db, sql: "SELECT 1 FROM sqlite_temp_schema WHERE name = 'persons'") ?? false
        }
    }

    /// What one kind of read returns.
    private static func answer(_ kind: Int, _ past: StorageSnapshot) async throws -> String {
        let young = past.query(Person.self).where { $0.age < 30 }
        switch kind {
        case 0: return "\(try await past.query(Person.self).fetch())"
        case 1: return "\(try await past.count(Person.self))"
        case 2: return "\(try await young.count()) of \(try await past.query(Person.self).limit(7).offset(3).count())"
        case 3: return "\(try await young.sum(\.score)) \(try await young.max(\.name) ?? "")"
        case 4: return "\(try await past.query(Person.self).orderBy(\.age, .descending).page(size: 20).items)"
        case 5:
            let ids = (0..<12).flatMap { ["p\($0 * 500)", "p\($0 * 500)-new"] }
            var found: [Person?] = []
            for id in ids { found.append(try await past.get(Person.self, id: id)) }
            return "\(found)"
        default: return "\(try await past.page(Person.self, orderBy: "name", limit: 40, offset: 100).items)"
        }
    }

    /// Whether the table was created; the answer doesn't create it.
    static func isCreated(_ past: StorageSnapshot, _ table: String = "persons") async throws -> Bool {
        try await past.read(["notes"]) { try $0.tableExists(table) }
    }

    /// What a call returns that isn't a query's: once of a snapshot, and once of any reader.
    private static func answer(ofCall kind: Int, _ past: some EntityReader) async throws -> String {
        let ids = (0..<12).flatMap { ["p\($0 * 500)", "p\($0 * 500)-new"] }
        switch kind {
        case 0: return "\(try await past.all(Person.self, orderBy: "age"))"
        case 1: return "\(try await past.page(Person.self, orderBy: \.score, limit: 9, offset: 990).items)"
        case 2: return "\(try await past.exists(Person.self, id: "p500"))"
        case 3: return "\(try await past.exists(Person.self, id: "p500-new"))"
        case 4: return "\(try await past.count(Person.self))"
        case 5: return "\(try await past.get(Person.self, id: "p1000") as Any)"
        case 6: return "\(try await past.loadParents(Person.self, ids: ids).values.map { "\($0)" }.sorted())"
        case 7: return "\(try await past.loadChildren(Person.self, where: "name", equals: "n3", orderBy: "age"))"
        default:
            let names = ["n1", "n3", "none"]
            let children = try await past.loadChildren(Person.self, where: "name", in: names, orderBy: "age")
            return "\(children.sorted { $0.key < $1.key })"
        }
    }

    /// The conditions of queries that read few rows by their keys.
    private static func few(_ kind: Int, _ past: StorageSnapshot) -> SnapshotQuery<Person> {
        let query = past.query(Person.self)
        let ids = (0..<12).map { "p\($0 * 500)" }
        return switch kind % 5 {
        case 0: query.where { $0.id == "p500" }
        case 1: query.where { $0.id.in(ids + ["p500-new", "none"]) }
        case 2: query.where { $0.id.between("p100", "p1005-") }.where { $0.age < 60 }
        case 3: query.where { $0.id >= "p5500" && $0.id < "p5520" }.orderBy(\.age, .descending)
        default: query.where { $0.id > "p999" || $0.id == "p1500-new" }
        }
    }

    /// What a query of few rows returns. There is only one, as frequent ones create the table.
    private static func answer(ofFew kind: Int, _ past: StorageSnapshot) async throws -> String {
        let query = few(kind, past)
        switch kind / 5 {
        case 0: return "\(try await query.fetch())"
        case 1: return "\(try await query.count())"
        case 2: return "\(try await query.sum(\.score))"
        default: return "\(try await query.page(size: 3).items)"
        }
    }

    @Test("Every read of the recent past returns what it returns from a copy", arguments: testSeeds(2))
    func agreement(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let points = try await changes(12, &random)
        for (kind, point) in points.shuffled(using: &random).prefix(7).enumerated() {
            let past = try await storage.asOf(.position(point))
            let seen = try await Self.answer(kind, past)
            let sum = try await past.read(["persons"]) {
                try Double.fetchOne($0, sql: "SELECT sum(score) FROM persons")
            }
            #expect(try await past.query(Person.self).sum(\.score) == sum)
            #expect(try await Self.isView(past) == false)
            #expect(try await Self.answer(kind, past) == seen, "seed \(seed), kind \(kind) @\(point)")
        }
    }

    @Test("Pages, lists and look-ups of the recent past copy nothing", arguments: testSeeds(1))
    func calls(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<10 { try await change(&random) }
        for kind in 0..<9 {
            // Each snapshot is of another moment.
            try await storage.save(Note(id: 1, text: "\(kind)"))
            let past = try await storage.asOf(.head)
            try await change(&random)
            let seen = try await Self.answer(ofCall: kind, past)
            #expect(try await Self.isCreated(past) == false, "kind \(kind)")
            _ = try await past.read(["persons"]) { try Int.fetchOne($0, sql: "SELECT count(rowid) FROM persons") }
            #expect(try await Self.answer(ofCall: kind, past) == seen, "seed \(seed), kind \(kind)")
        }
    }

    @Test("For the children of many parents, the table is created")
    func manyParents() async throws {
        let past = try await storage.asOf(.head)
        try await storage.save(Person(id: "later", name: "n3", age: nil, score: 0))
        let children = try await past.loadChildren(Person.self, where: "name", in: (0..<40).map { "n\($0)" })
        let total = children.values.reduce(0) { $0 + $1.count }
        #expect(children.count == 7)
        #expect(total == Self.rows)
        #expect(try await Self.isCreated(past))
    }

    @Test("Few rows of an old moment are read by their keys, as the table had them", arguments: testSeeds(2))
    func fewRows(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let points = try await changes(20, &random)
        try await addManyEvents()
        for (kind, point) in points.shuffled(using: &random).prefix(20).enumerated() {
            let past = try await storage.asOf(.position(point))
            let seen = try await Self.answer(ofFew: kind, past)
            #expect(try await Self.isCreated(past) == false, "kind \(kind)")
            let isWhole = try await Self.few(kind, past).reading { db in
                try Int.fetchOne(db, sql: "SELECT count(*) FROM persons") ?? 0 > Self.rows - 12
            }
            #expect(isWhole)
            #expect(try await Self.answer(ofFew: kind, past) == seen, "seed \(seed), kind \(kind) @\(point)")
        }
    }

    @Test("Look-ups in an old moment create no table, whether or not they find a row")
    func oldLookups() async throws {
        let point = storage.head
        try await storage.delete(Person.self, id: "p7")
        try await storage.save(Person(id: "later", name: "n", age: nil, score: 0))
        try await addManyEvents()
        let past = try await storage.asOf(.position(point))
        #expect(try await past.get(Person.self, id: "p7")?.age == 7)
        #expect(try await past.get(Person.self, id: "later") == nil)
        #expect(try await past.exists(Person.self, id: "p7"))
        #expect(try await past.loadParents(Person.self, ids: ["p7", "p8", "none"]).count == 2)
        #expect(try await Self.isCreated(past) == false)
    }

    @Test("An entity is found along its own events, as the table had it", arguments: testSeeds(2))
    func singleEntities(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let points = try await changes(20, &random)
        try await storage.write { tx in
            for age in 0..<1_100 { try tx.save(Person(id: "p1", name: "n", age: age, score: 0)) }
        }
        for point in points.shuffled(using: &random).prefix(5) {
            let past = try await storage.asOf(.position(point))
            let found = try await Self.answer(5, past)
            _ = try await past.read(["persons"]) { try Int.fetchOne($0, sql: "SELECT count(rowid) FROM persons") }
            #expect(try await Self.answer(5, past) == found, "seed \(seed) @\(point)")
        }
    }

    @Test("A large table isn't copied for its recent past, a small or an old one is")
    func kinds() async throws {
        try await storage.save(Note(id: 1, text: "one"))
        let old = storage.head
        #expect(try await Self.isView(storage.asOf(.position(old))))
        for age in 0..<1_030 { try await storage.save(Person(id: "p0", name: "n", age: age, score: 0)) }
        #expect(try await Self.isView(storage.asOf(.before(.head, commits: 90))))
        #expect(try await Self.isView(storage.asOf(.position(old + 100))) == false)
        #expect(try await Self.isView(storage.asOf(.position(old + 2))) == false)
        #expect(try await Self.isView(storage.asOf(.position(old + 200), schema: .asRecorded)) == false)
        let note = try await storage.asOf(.before(.head, commits: 3))
        #expect(
            try await note.query(Note.self).reading { db in
                try Int.fetchOne(db, sql: "SELECT count(rowid) FROM notes")
            } == 1)
    }
}
