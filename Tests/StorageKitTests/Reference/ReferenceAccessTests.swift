import StorageEntities
import StorageKit
import StorageMaintenance
import StorageTesting
import Testing

/// The reference's chapters on SQL of one's own and on stores for tests.
@Suite struct ReferenceAccessTests {
    @StorageEntity
    struct Letter {
        var id: String
        var text: String
        var sentAt: Date
    }

    private static func day(_ number: Double) -> Date { Date(timeIntervalSinceReferenceDate: number * 86_400) }

    private func open() async throws -> StorageKit.Context {
        let context = try StorageKit.inMemory { schema in
            schema.addKVCache()
            schema.autoSchema(LetterRecord.self)
        }
        try await context.facade.save((0..<4).map { Letter(id: "l\($0)", text: "Dear", sentAt: Self.day(Double($0))) })
        return context
    }

    @Test("The database actor reads and writes with SQL")
    func actorWithSQL() async throws {
        let context = try await open()
        let db = context.storage.dbActor
        let count = try await db.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM letters") ?? 0 }
        #expect(count == 4)
        let limit = Self.day(2)
        try await db.write { db in
            try db.execute(sql: "DELETE FROM letters WHERE sentAt < ?", arguments: [limit.storageValue])
        }
        #expect(try await context.facade.all(Letter.self).map(\.id) == ["l2", "l3"])
        #expect(try await context.facade.logText().suffix(2) == ["delete letters/l0", "delete letters/l1"])
    }

    @Test("The pool reads and writes with SQL and returns the body's value")
    func poolWithSQL() async throws {
        let context = try await open()
        let pool = context.storage.pool
        let changed = try await pool.write { db in
            try db.execute(sql: "UPDATE letters SET text = text || '!' WHERE id <> 'l0'")
            return db.changesCount
        }
        #expect(changed == 3)
        #expect(try await pool.read { try String.fetchAll($0, sql: "SELECT DISTINCT text FROM letters").count } == 2)
        #expect(try await context.facade.get(Letter.self, id: "l3")?.text == "Dear!")
    }

    /// It can't run inside a transaction, and would renumber the rows that full-text indexes mean.
    @Test("VACUUM is refused with the reason, and the store works on")
    func vacuumIsRefused() async throws {
        let context = try await open()
        let error = await #expect(throws: StorageError.self) {
            try await context.storage.pool.write { db in try db.execute(sql: "VACUUM") }
        }
        #expect(error?.message.contains("VACUUM") ?? false, "\(error?.message ?? "")")
        try await context.facade.save(Letter(id: "l9", text: "", sentAt: .distantPast))
        #expect(try await context.facade.count(Letter.self) == 5)
    }

    /// Every form in which a column holds a value comes back from SQL as it was put in.
    @Test("Values in their stored form go through SQL unchanged")
    func storedValuesThroughSQL() async throws {
        let values: [StorageValue] = [
            .null, .integer(.min), .real(-0.0), .text("ї'\u{1F600}"), .blob(Data([0, 255])), Self.day(0.1).storageValue,
            UUID().storageValue, true.storageValue,
        ]
        let storage = try await open().facade
        let back = try await storage.read { db in
            try values.map { try StorageValue.fetchOne(db, sql: "SELECT ?", arguments: [$0]) ?? .null }
        }
        #expect(back == values)
        let sent = try await storage.read { db in
            try StorageValue.fetchOne(db, sql: "SELECT sentAt FROM letters WHERE id = 'l1'")
        }
        #expect(try Date(storageValue: try #require(sent)) == Self.day(1))
    }

    @Test("A write with SQL that throws leaves nothing")
    func throwingSQLWrite() async throws {
        struct Stop: Error {}
        let context = try await open()
        let head = context.facade.head
        for write in [context.storage.pool.write, context.storage.dbActor.write]
            as [(@escaping @Sendable (Database) throws -> Void) async throws -> Void]
        {
            await #expect(throws: Stop.self) {
                try await write { db in
                    try db.execute(sql: "DELETE FROM letters")
                    throw Stop()
                }
            }
        }
        #expect(context.facade.head == head)
        #expect(try await context.facade.count(Letter.self) == 4)
    }

    @Test("A store that is opened for reading isn't written")
    func readOnlyStore() async throws {
        let store = try TemporaryStore { $0.autoSchema(LetterRecord.self) }
        try await store.storage.save(Letter(id: "a", text: "", sentAt: .distantPast))
        let configuration = StorageConfig(isReadOnly: true)
        let context = try StorageKit.start(at: store.url, config: configuration)
        let error = await #expect(throws: StorageError.self) {
            try await context.storage.dbActor.write { db in try db.execute(sql: "DELETE FROM letters") }
        }
        #expect(error?.code == .readOnly)
        #expect(try await context.storage.pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM letters") } == 1)
        try await context.facade.close()
    }

    @StorageEntity
    struct Receipt {
        var id: UUID
        var signedAt: Date?
        var copies: Int
    }

    /// Arguments of a transaction's own SQL have the form that columns have, dates and UUIDs above all.
    @Test("Arguments of a transaction's SQL mean what properties mean")
    func transactionArguments() async throws {
        let storage = try StorageKit.inMemory { $0.autoSchema(ReceiptRecord.self) }.facade
        let receipts = (0..<4).map { Receipt(id: UUID(), signedAt: Self.day(Double($0)), copies: 1) }
        try await storage.save(receipts)
        try await storage.write { tx in
            try tx.execute("UPDATE receipts SET copies = ?, signedAt = ? WHERE id = ?", [7, nil, receipts[3].id])
            try tx.execute("DELETE FROM receipts WHERE signedAt < ?", [Self.day(2)])
        }
        let left = Dictionary(uniqueKeysWithValues: try await storage.all(Receipt.self).map { ($0.id, $0) })
        #expect(
            left == [
                receipts[2].id: receipts[2], receipts[3].id: Receipt(id: receipts[3].id, signedAt: nil, copies: 7),
            ])
        let error = await #expect(throws: StorageError.self) {
            try await storage.write { try $0.execute("UPDATE receipts SET signedAt = ?", [Double.nan]) }
        }
        #expect(error?.code == .invalidValue)
    }

    // MARK: Stores for tests

    @Test("Each test has a store of its own")
    func storePerTest() async throws {
        func makeStore() throws -> (StorageKit.Context, URL) {
            let url = FileManager.default.temporaryDirectory.appendingPathComponent("test_\(UUID().uuidString).sqlite")
            let context = try StorageKit.start(at: url) { schema in
                schema.addKVCache()
                schema.autoSchema(LetterRecord.self)
            }
            return (context, url)
        }
        let (first, second) = (try makeStore(), try makeStore())
        try await first.0.facade.save(Letter(id: "a", text: "", sentAt: .distantPast))
        #expect(try await first.0.facade.count(Letter.self) == 1)
        #expect(try await second.0.facade.count(Letter.self) == 0)
        for (context, url) in [first, second] {
            try await context.facade.close()
            for suffix in ["", "-wal", "-shm", ".lock", ".bell"] {
                try? FileManager.default.removeItem(atPath: url.path + suffix)
            }
        }
    }

    @Test("A store in memory is given its schema later")
    func laterSchema() async throws {
        let context = try StorageKit.inMemory()
        var schema = AppMigrations()
        schema.addKVCache()
        schema.autoSchema(LetterRecord.self)
        #expect(try schema.run(on: context.storage.pool).isEmpty == false)
        try await context.facade.save(Letter(id: "a", text: "", sentAt: .distantPast))
        #expect(try await context.facade.count(Letter.self) == 1)
        let keys = try await context.storage.dbActor.read { try Int.fetchOne($0, sql: "PRAGMA foreign_keys") }
        #expect(keys == 1)
        // Again there is nothing to do, and what fails changes nothing.
        #expect(try schema.run(on: context.storage.pool).isEmpty)
        schema.migration("broken") { db in
            try db.execute(sql: "DELETE FROM letters")
            try db.execute(sql: "nonsense")
        }
        #expect(throws: StorageError.self) { try schema.run(on: context.storage.pool) }
        #expect(try await context.facade.count(Letter.self) == 1)
    }

    /// A schema that is applied to an open store changes what repositories remember as well.
    @Test("Repositories follow a schema that is applied to an open store")
    func repositoriesFollowSchema() async throws {
        let context = try await open()
        let letters = context.facade.repository(Letter.self)
        #expect(try await letters.get(id: "l1")?.text == "Dear")
        var schema = AppMigrations()
        schema.autoSchema(LetterRecord.self)
        schema.migration("2026-01-20_upper") { db in try db.execute(sql: "UPDATE letters SET text = upper(text)") }
        try schema.run(on: context.storage.pool)
        #expect(try await letters.get(id: "l1")?.text == "DEAR")
        #expect(try await context.facade.verify().isSound)
    }
}
