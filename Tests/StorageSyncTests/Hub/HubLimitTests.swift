import GRDB
import StorageCore
import StorageKit
import StorageLog
import StorageTesting
import Testing

@testable import StorageSync

/// What a hub keeps of its clients, and how far it looks back for them.
@Suite(.timeLimit(.minutes(10))) struct HubLimitTests {
    private static func text(_ value: some Encodable) throws -> StorageValue { .text(try JSONText.of(value)) }

    private static func access(_ name: String) -> HubAccess {
        HubAccess(actor: name, namespace: name, grants: [.init(entity: nil, reads: true, writes: true)])
    }

    // MARK: The past

    /// A hub on a store where one document has been changed many times.
    private func hub(_ store: TemporaryStore, versions: Int, steps: Int) async throws -> StoreHub {
        var limits = StoreHub.Limits()
        limits.historySteps = steps
        let hub = try await StoreHub(store.storage, limits: limits)
        for id in ["hot", "cold"] {
            _ = try await hub.write(.save(["n": Self.text(0)]), to: id, of: "notes", as: .full)
        }
        try await store.storage.write { tx in
            for _ in 0..<versions { try tx.database.execute(sql: "UPDATE notes SET n = n + 1 WHERE id = 'hot'") }
        }
        return hub
    }

    /// What is remembered of documents, so that their past isn't read again, is bounded however large they are.
    @Test("The memory for remembered rows is bounded")
    func rememberedRowsAreBounded() async throws {
        let store = try TemporaryStore()
        let hub = try await StoreHub(store.storage)
        let text = try JSONText.of(String(repeating: "x", count: 3 << 20))
        _ = try await hub.write(.save(["t": .text(text)]), to: "1", of: "notes", as: .full)
        let image = try await store.storage.engine.read { db in
            let log = try HubLog(db)
            return try log.table("notes").flatMap { try log.reader.image(of: [.text("1")], in: $0.entity) }
        }
        var rows = RecentRows()
        for number in 0..<4 { rows.set(image, after: 1, of: "\(number)") }
        #expect((0..<4).filter { rows.row(of: "\($0)", after: 1) != nil } == [2, 3])
    }

    /// However many documents a collection has, a query takes the memory of what it finds, and that is bounded.
    @Test("The memory of a query is bounded")
    func queryMemoryIsBounded() async throws {
        let store = try TemporaryStore()
        var limits = StoreHub.Limits()
        limits.queryBytes = 10_000
        let hub = try await StoreHub(store.storage, limits: limits)
        let text = try JSONText.of(String(repeating: "x", count: 1_000))
        for number in 0..<30 {
            let fields: [String: StorageValue] = ["n": .text("\(number)"), "t": .text(text)]
            _ = try await hub.write(.save(fields), to: "\(number)", of: "notes", as: .full)
        }
        let find = { (query: QueryBuilder) in
            try await hub.documents(of: "notes", matching: query, as: .full).documents.map(\.id)
        }
        await #expect { try await find(QueryBuilder()) } throws: {
            guard case HubError.invalid(let reason) = $0 else { return false }
            return reason.contains(" MiB. Set a limit")
        }
        #expect(try await find(QueryBuilder().where("n", isLessThan: 5)).count == 5)
        #expect(try await find(QueryBuilder().order(by: "n").limit(to: 3)) == ["0", "1", "2"])
        #expect(try await find(QueryBuilder().order(by: "n").limit(toLast: 3)) == ["27", "28", "29"])
        #expect(try await find(QueryBuilder().order(by: "n").start(after: [26])) == ["27", "28", "29"])
        await #expect(throws: HubError.self) { try await find(QueryBuilder().order(by: "n").limit(to: 20)) }
    }

    /// Large documents come first, so that what is kept on the way has many bytes, and what is left has few.
    @Test("Large documents count while a query is computed")
    func largeIntermediateDocuments() async throws {
        let store = try TemporaryStore()
        var limits = StoreHub.Limits()
        limits.queryBytes = 10_000
        let hub = try await StoreHub(store.storage, limits: limits)
        let condition = RowPredicate.comparison(column: "owner", .equal, .value(.text("ada")))
        let ada = HubAccess(
            actor: "ada", namespace: "ada",
            grants: [.init(entity: "notes", reads: true, writes: true, condition: condition)])
        func save(_ id: String, n: Int, bytes: Int, owner: String = "ada") async throws {
            let fields: [String: StorageValue] = [
                "n": .text("\(n)"), "owner": try Self.text(owner),
                "t": try Self.text(String(repeating: "x", count: bytes)),
            ]
            _ = try await hub.write(.save(fields), to: id, of: "notes", as: .full)
        }
        let find = { (query: QueryBuilder) in
            try await hub.documents(of: "notes", matching: query, as: ada).documents.map(\.id)
        }
        // By id they come before all others, by number behind them.
        for number in 0..<5 { try await save("a\(number)", n: 100 - number, bytes: 3_000) }
        for number in 0..<50 { try await save("b\(number)", n: number, bytes: 100) }
        // What ada doesn't see takes nothing of what she may find.
        for number in 0..<5 { try await save("0\(number)", n: -1, bytes: 50_000, owner: "bob") }

        let first = QueryBuilder().order(by: "n")
        #expect(try await find(first.limit(to: 5)) == ["b0", "b1", "b2", "b3", "b4"])
        #expect(try await find(first.limit(to: 3).start(after: [95])) == ["a4", "a3", "a2"])
        // Twice as many bytes on the way are too many, though the five that are left have few.
        for number in 5..<7 { try await save("a\(number)", n: 100 - number, bytes: 3_000) }
        #expect(try await find(first.limit(to: 3)) == ["b0", "b1", "b2"])
        for query in [first.limit(to: 10), first.limit(toLast: 5), first] {
            await #expect { try await find(query) } throws: {
                guard case HubError.invalid(let reason) = $0 else { return false }
                return reason.contains("a limit, or a lower one")
            }
        }
        // As it says: a lower limit, and on behind the last document.
        var (ids, last): ([String], Int?) = ([], nil)
        while ids.count < 57 {
            let found = try await find((last.map { first.start(after: [$0]) } ?? first).limit(to: 3))
            ids += found
            guard let id = found.last, let number = Int(id.dropFirst()) else { break }
            last = id.hasPrefix("a") ? 100 - number : number
        }
        #expect(ids == (0..<50).map { "b\($0)" } + (0..<7).reversed().map { "a\($0)" })
    }

    /// A list ends early instead, and continues behind the last document.
    @Test("A list of large documents comes in parts")
    func listOfLargeDocuments() async throws {
        let store = try TemporaryStore()
        let hub = try await StoreHub(store.storage)
        let large = try Self.text(String(repeating: "x", count: 3 << 20))
        for id in ["1", "2", "3"] { _ = try await hub.write(.save(["t": large]), to: id, of: "notes", as: .full) }
        let first = try await hub.documents(of: "notes", limit: 10, as: .full)
        #expect(first.documents.map(\.id) == ["1", "2"])
        #expect(first.hasMore)
        let rest = try await hub.documents(of: "notes", behind: "2", limit: 10, as: .full)
        #expect(rest.documents.map(\.id) == ["3"])
        #expect(!rest.hasMore)
    }

    /// One that has said that it is ahead of all has each of its writes looked for, but not for ever.
    @Test("The lookup of earlier writes is bounded")
    func lookupOfWritesIsBounded() async throws {
        let store = try TemporaryStore()
        let hub = try await hub(store, versions: 1_000, steps: 500)
        var one = try await HubClient("one", hub)
        let head = try await hub.head()
        let patch = WriteOperation.patch(["n": try Self.text(-1)])
        _ = try await one.push(HubWrite(1 << 53, patch, of: "cold", base: head))
        let results = try await one.push(HubWrite(1, patch, of: "hot", base: head))
        #expect(results == [.rejected(.unknown)], "it may have been applied before")
        let both = one.batch([
            HubWrite(2, patch, of: "cold", base: head), HubWrite(3, patch, of: "hot", base: head),
        ])
        // Each by itself may be looked for as long.
        await #expect { try await hub.push(both, as: .full) } throws: {
            if case .refused(.invalid) = $0 as? SyncFailure { true } else { false }
        }
        #expect(try await one.push(HubWrite(2, patch, of: "cold", base: head)).first?.position != nil)
        // Those who are ahead of themselves have nothing to be looked for.
        var other = try await HubClient("other", hub)
        #expect(try await other.push(HubWrite(1, patch, of: "hot", base: head)).first?.position != nil)
    }

    @Test("A long history is a conflict for those who don't know it")
    func longUnknownHistory() async throws {
        let store = try TemporaryStore()
        let hub = try await hub(store, versions: 1_000, steps: 500)
        let head = try await hub.head()
        for isConditional in [false, true] {
            var one = try await HubClient("\(isConditional)", hub)
            let save = WriteOperation.save(["n": try Self.text(-1)])
            let late = try await one.push(HubWrite(1, save, of: "hot", base: 1, isConditional: isConditional))
            guard case .rejected(.conflict(let position)) = late.first else {
                Issue.record("\(late)")
                continue
            }
            #expect(position >= head)
            let now = HubWrite(1, save, of: "hot", base: position, isConditional: isConditional)
            #expect(try await one.push(now).first?.position != nil)
        }
    }

    /// A batch that asks for much costs those their turn alone who share its transaction.
    @Test("Others in the transaction of an expensive batch are accepted")
    func othersInTransaction() async throws {
        let store = try TemporaryStore()
        let hub = try await hub(store, versions: 1_000, steps: 500)
        let head = try await hub.head()
        let patch = WriteOperation.patch(["n": try Self.text(-1)])
        var clients: [HubClient] = []
        for number in 0..<8 { clients.append(try await HubClient("\(number)", hub)) }
        _ = try await clients[0].push(HubWrite(1 << 53, patch, of: "cold", base: head))
        let results = try await withThrowingTaskGroup(of: (Int, [WriteResult]).self) { group in
            for (number, client) in clients.enumerated() {
                let batch = client.batch([HubWrite(1, patch, of: "hot", base: head)])
                group.addTask { (number, try await hub.push(batch, as: .full).map(\.result)) }
            }
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        #expect(results[0] == [.rejected(.unknown)])
        #expect((1..<8).allSatisfy { results[$0]?.first?.position != nil })
    }

    /// Whatever is asked of it, and by whom.
    @Test("A document's history is searched once")
    func documentIsSearchedOnce() async throws {
        let store = try TemporaryStore()
        let hub = try await hub(store, versions: 1_000, steps: 1_500)
        var one = try await HubClient("one", hub)
        let head = try await hub.head()
        let patch = WriteOperation.patch(["n": try Self.text(-1)])
        _ = try await one.push(HubWrite(1 << 53, patch, of: "cold", base: head))
        let writes = (1...20).map { HubWrite($0, patch, of: "hot", base: 1, isConditional: true) }
        let first = try #require(try await one.push(all: writes).first)
        if case .rejected(.conflict) = first {} else { Issue.record("\(first)") }
    }

    // MARK: Transactions

    @Test("A transaction has a limit of writes and bytes")
    func transactionLimits() {
        func count(_ sizes: (writes: Int, bytes: Int)...) -> Int { HubGroupCommit.groupCount(of: sizes) }
        #expect(count() == 0)
        #expect(count((5_000, 1 << 30)) == 1, "one in any case")
        #expect(count((999, 1), (1, 1), (1, 1)) == 2)
        #expect(count((1, 15 << 20), (1, 15 << 20), (1, 1)) == 2)
    }

    // MARK: Rows of clients

    @Test("The most recent keys are remembered")
    func recentKeys() async throws {
        let store = try TemporaryStore()
        var limits = StoreHub.Limits()
        limits.keys = 3
        var hub = try await StoreHub(store.storage, limits: limits)
        func write(_ key: String, _ client: String = "anna") async throws -> HubOutcome {
            try await hub.write(
                .save(["n": Self.text(key)]), to: "1", of: "notes", key: HubRequestKey(value: key, fingerprint: [1]),
                as: Self.access(client))
        }
        let old = try await write("old")
        // As a hub made the table that remembered all.
        try await store.storage.engine.withWriter { writer, db in
            try writer.group(db) {
                try db.execute(sql: "DROP INDEX hub_requests_number")
                for column in ["number", "line"] {
                    try db.execute(sql: "ALTER TABLE hub_requests DROP COLUMN \(column)")
                }
            }
        }
        hub = try await StoreHub(store.storage, limits: limits)
        #expect(try await write("old") == old)
        var outcomes: [String: HubOutcome] = [:]
        for key in ["a", "b", "c", "d"] { outcomes[key] = try await write(key) }
        #expect(try await write("old").position > old.position, "forgotten")
        for key in ["c", "d"] { #expect(try await write(key) == outcomes[key]) }
        #expect(try await write("a") != outcomes["a"])
        _ = try await write("c", "bob")
        for key in ["d", "old", "a"] { _ = try await write(key) }
        let rows = try await store.storage.engine.read { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM hub_requests WHERE client = 'anna'")
        }
        #expect(rows == 3)
    }

    @Test("A namespace has a limit of producers")
    func producerLimit() async throws {
        let store = try TemporaryStore()
        var limits = StoreHub.Limits()
        limits.producers = 2
        let hub = try await StoreHub(store.storage, limits: limits)
        func hello(_ name: String, _ client: String, epoch: Int64 = 1) async throws {
            let access = client.isEmpty ? HubAccess.full : Self.access(client)
            _ = try await hub.hello(from: access.producer(name), epoch: epoch, as: access)
        }
        for name in ["1", "2"] { try await hello(name, "anna") }
        await #expect(throws: SyncFailure.self) { try await hello("3", "anna") }
        try await hello("2", "anna", epoch: 2)
        for client in ["ann", "anna0", "bob"] { try await hello("3", client) }
        for name in ["1", "2", "3"] { try await hello(name, "") }
    }
}
