import GRDB
import StorageKit
import StorageTesting
import TestSupport
import Testing

/// Entities of a large table are read as they were shortly before, without a copy of the table.
@Suite struct RecentPastTests {
    private static let rows = 6_000

    private static func people(_ storage: Storage) async throws {
        try await storage.save(
            (0..<rows).map { Person(id: "p\($0)", name: "n\($0 % 7)", age: $0 % 90, score: Double($0)) })
    }

    private static func change(_ storage: Storage, _ random: inout SplitMix64) async throws {
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

    @Test("Every read of the recent past returns what it returns from a copy", arguments: testSeeds(2))
    func agreement(seed: UInt64) async throws {
        let store = try TemporaryStore { $0.autoSchema(PersonRecord.self) }
        var random = SplitMix64(seed: seed)
        try await Self.people(store.storage)
        var points = [store.storage.head]
        for _ in 0..<12 {
            try await Self.change(store.storage, &random)
            points.append(store.storage.head)
        }
        for (kind, point) in points.shuffled(using: &random).prefix(7).enumerated() {
            let past = try await store.storage.asOf(.position(point))
            let seen = try await Self.answer(kind, past)
            let sum = try await past.read(["persons"]) {
                try Double.fetchOne($0, sql: "SELECT sum(score) FROM persons")
            }
            #expect(try await past.query(Person.self).sum(\.score) == sum)
            #expect(try await Self.isView(past) == false)
            #expect(try await Self.answer(kind, past) == seen, "seed \(seed), kind \(kind) @\(point)")
        }
    }

    @Test("An entity is found along its own events, as the table had it", arguments: testSeeds(2))
    func singleEntities(seed: UInt64) async throws {
        let store = try TemporaryStore { $0.autoSchema(PersonRecord.self) }
        var random = SplitMix64(seed: seed)
        try await Self.people(store.storage)
        var points = [store.storage.head]
        for _ in 0..<20 {
            try await Self.change(store.storage, &random)
            points.append(store.storage.head)
        }
        try await store.storage.write { tx in
            for age in 0..<1_100 { try tx.save(Person(id: "p1", name: "n", age: age, score: 0)) }
        }
        for point in points.shuffled(using: &random).prefix(5) {
            let past = try await store.storage.asOf(.position(point))
            let found = try await Self.answer(5, past)
            _ = try await past.read(["persons"]) { try Int.fetchOne($0, sql: "SELECT count(rowid) FROM persons") }
            #expect(try await Self.answer(5, past) == found, "seed \(seed) @\(point)")
        }
    }

    @Test("A large table isn't copied for its recent past, a small or an old one is")
    func kinds() async throws {
        let store = try TemporaryStore { $0.autoSchema(PersonRecord.self, NoteRecord.self) }
        try await Self.people(store.storage)
        try await store.storage.save(Note(id: 1, text: "one"))
        let old = store.storage.head
        #expect(try await Self.isView(store.storage.asOf(.position(old))))
        for age in 0..<1_030 { try await store.storage.save(Person(id: "p0", name: "n", age: age, score: 0)) }
        #expect(try await Self.isView(store.storage.asOf(.before(.head, commits: 90))))
        #expect(try await Self.isView(store.storage.asOf(.position(old + 100))) == false)
        #expect(try await Self.isView(store.storage.asOf(.position(old + 2))) == false)
        #expect(try await Self.isView(store.storage.asOf(.position(old + 200), schema: .asRecorded)) == false)
        let note = try await store.storage.asOf(.before(.head, commits: 3))
        #expect(
            try await note.query(Note.self).reading { db in
                try Int.fetchOne(db, sql: "SELECT count(rowid) FROM notes")
            } == 1)
    }
}
