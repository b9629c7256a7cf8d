import CSQLite
import EntityTestSupport
import Foundation
import GRDB
import StorageKit
import StorageTesting
import TestSupport
import Testing

/// Commits that share a transaction.
extension WriterGuardTests {
    /// Runs writes so that they meet in one transaction. Nil for those that succeeded.
    func together(
        _ store: TemporaryStore, _ count: Int, _ body: @escaping @Sendable (WriteTransaction, Int) throws -> Void
    ) async throws -> [(any Error)?] {
        let storage = store.storage
        let gate = DispatchSemaphore(value: 0)
        let (entered, entry) = AsyncStream<Void>.makeStream()
        let held = Task {
            try await storage.write { tx in
                entry.finish()
                gate.wait()
                try tx.execute("SELECT 1")
            }
        }
        for await _ in entered {}
        var tasks: [Task<(any Error)?, Never>] = []
        for index in 0..<count {
            let queued = storage.engine.waitingCommits
            tasks.append(
                Task {
                    do {
                        try await storage.write { try body($0, index) }
                        return nil
                    } catch { return error }
                })
            // In this order.
            while storage.engine.waitingCommits == queued { await Task.yield() }
        }
        gate.signal()
        _ = try await held.value
        var outcomes: [(any Error)?] = []
        for task in tasks { outcomes.append(await task.value) }
        return outcomes
    }

    @Test(
        "A commit that ends the transaction fails alone",
        arguments: [
            "INSERT OR ROLLBACK INTO notes SELECT * FROM notes WHERE id = 1", "ROLLBACK", "COMMIT",
            "INSERT INTO rolls VALUES (1)", "RELEASE storage_commit",
        ])
    func rollbackFailsOneCommit(sql: String) async throws {
        let store = try await makeStore()
        try await store.storage.write { tx in
            try tx.execute("CREATE TABLE rolls(x)")
            try tx.execute(
                "CREATE TRIGGER rolls_back AFTER INSERT ON rolls BEGIN SELECT RAISE(ROLLBACK, 'secret of another'); END"
            )
        }
        let outcomes = try await together(store, 200) { tx, index in
            if index == 77 { try tx.execute(sql) } else { try tx.save(Note(id: 1_000 + index, text: "innocent")) }
        }
        for (index, outcome) in outcomes.enumerated() {
            #expect((outcome == nil) == (index != 77), "\(index): \(String(describing: outcome))")
        }
        #expect(try await store.storage.count(Note.self) == 200)
        #expect(try await store.storage.verify().isSound)
    }

    /// SQLite ends the transaction of a statement that writes and is interrupted.
    @Test("A commit that is interrupted fails alone")
    func interruptFailsOneCommit() async throws {
        let store = try await makeStore()
        let outcomes = try await together(store, 20) { tx, index in
            guard index == 7 else { return try tx.save(Note(id: 1_000 + index, text: "innocent")) }
            // Sound as `nonisolated(unsafe)`: the function is called by a statement of this connection, on its own queue.
            nonisolated(unsafe) let connection = tx.database.sqliteConnection
            tx.database.add(
                function: DatabaseFunction("interrupted", argumentCount: 1) { values in
                    sqlite3_interrupt(connection)
                    return values[0]
                })
            try tx.execute(
                """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
                INSERT INTO notes(id, text, updatedAt) SELECT 5000 + interrupted(i), 'x', '2026-01-01 00:00:00.000' FROM n
                """)
        }
        for (index, outcome) in outcomes.enumerated() {
            #expect((outcome == nil) == (index != 7), "\(index): \(String(describing: outcome))")
        }
        #expect(try await store.storage.count(Note.self) == 20)
        #expect(try await store.storage.verify().isSound)
    }

    /// SQLite says "full" of row numbers as of a disk, and ends the transaction for it.
    @Test("A commit that runs out of rowids fails alone")
    func exhaustedRowids() async throws {
        let store = try await makeStore()
        try await store.storage.write { tx in
            try tx.execute("CREATE TABLE numbered(id INTEGER PRIMARY KEY AUTOINCREMENT)")
            try tx.execute("INSERT INTO numbered VALUES (9223372036854775807)")
        }
        let outcomes = try await together(store, 20) { tx, index in
            if index == 7 {
                try tx.execute("INSERT INTO numbered DEFAULT VALUES")
            } else {
                try tx.save(Note(id: 1_000 + index, text: "innocent"))
            }
        }
        for (index, outcome) in outcomes.enumerated() where index != 7 {
            #expect(outcome == nil, "\(index): \(String(describing: outcome))")
        }
        let error = outcomes[7] as? StorageError
        #expect(
            error?.code == .limitExceeded,
            "\(String(describing: error))")
        #expect(
            error?.message.contains("AUTOINCREMENT") == true,
            "\(String(describing: error))")
        try await expect(["first"] + Array(repeating: "innocent", count: 19), store)
    }

    @Test("Limits count per commit")
    func limitsCountPerCommit() async throws {
        let store = try await makeStore()
        // Together they are longer than a commit may be.
        let blob = String(ascii: "x", count: 60 << 20)
        let outcomes = try await together(store, 9) { tx, index in try tx.save(Note(id: 10 + index, text: blob)) }
        #expect(outcomes.allSatisfy { $0 == nil })
        #expect(try await store.storage.count(Note.self) == 10)
    }

    @Test("Commits before a large one don't wait for it")
    func noWaitForLargeCommit() async throws {
        let store = try await makeStore()
        let storage = store.storage
        let isLarge = testScale >= 5
        // More rows than a commit may change that others wait for.
        let (savers, rows) = isLarge ? (200, 400_000) : (40, testScale > 1 ? 60_000 : 30_000)
        let large = savers / 2
        let order = Record<Int>()
        let committed = Record<Int64>()
        let gate = DispatchSemaphore(value: 0)
        let (entered, entry) = AsyncStream<Void>.makeStream()
        let held = Task {
            try await storage.write { tx in
                entry.finish()
                gate.wait()
            }
        }
        for await _ in entered {}
        var tasks: [Task<CommitReceipt, any Error>] = []
        for index in 0...savers {
            let queued = storage.engine.waitingCommits
            tasks.append(
                Task {
                    let receipt = try await storage.write { tx in
                        guard index == large else { return try tx.save(Note(id: 10 + index, text: "small")) }
                        try tx.execute(
                            """
                            WITH RECURSIVE n(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < \(999 + rows))
                            INSERT INTO notes(id, text, updatedAt) SELECT i, 'large', '2026-01-01 00:00:00.000' FROM n
                            """)
                        // It may have given way before: when it runs for the last time, those before it have their answers.
                        order.append(large)
                        committed.append(storage.engine.committed.position)
                    }
                    if index != large { order.append(index) }
                    return receipt
                })
            while storage.engine.waitingCommits == queued { await Task.yield() }
        }
        gate.signal()
        _ = try await held.value
        var commits: [Int64] = []
        for task in tasks { commits.append(try #require(try await task.value.commit)) }
        // In the order in which they came, and those behind the large one right after it.
        #expect(commits == Array(commits[0]...commits[0] + Int64(savers)))
        let before = try await storage.read {
            try Int64.fetchOne($0, sql: "SELECT max(_position) FROM notes WHERE id < ?", arguments: [10 + large])
        }
        #expect(try #require(committed.all.last) >= #require(before))
        let reported = order.all
        let place = try #require(reported.firstIndex(of: large))
        // Their tasks may be slow to go on, but none of those behind it can have been answered before it.
        #expect(reported[..<place].allSatisfy { $0 < large })
        #expect(try await storage.count(Note.self) == rows + savers + 1)
        #expect(try await storage.verify().isSound)
    }

    /// Also where it changes nothing in that time, and passes over its interruption.
    @Test("Commits before a long read don't wait for it", arguments: [false, true])
    func noWaitForLongRead(swallows: Bool) async throws {
        let store = try await makeStore()
        let storage = store.storage
        let committed = Record<Int64>()
        // It takes far longer than a commit may that others wait for.
        let (long, last) = (30, testScale > 1 ? 3_000_000 : 500_000)
        let read =
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(last)) SELECT max(i) FROM n"
        let outcomes = try await together(store, 40) { tx, index in
            guard 10 + index == long else { return try tx.save(Note(id: 10 + index, text: "small")) }
            var found: Int?
            do { found = try Int.fetchOne(tx.database, sql: read) } catch { if !swallows { throw error } }
            committed.append(storage.engine.committed.position)
            try tx.save(Note(id: long, text: "\(found ?? -1)"))
        }
        #expect(outcomes.allSatisfy { $0 == nil }, "\(outcomes)")
        #expect(try await storage.get(Note.self, id: long)?.text == "\(last)")
        let before = try await storage.read {
            try Int64.fetchOne($0, sql: "SELECT max(_position) FROM notes WHERE id < ?", arguments: [long])
        }
        // When it ran for the last time they had their answers.
        #expect(try #require(committed.all.last) >= #require(before))
        #expect(try await storage.verify().isSound)
    }

    @Test("A queue with a limit refuses one more")
    func queueLimit() async throws {
        var configuration = StorageConfig()
        configuration.maximumQueuedWrites = 3
        let store = try TemporaryStore(config: configuration) { $0.autoSchema(NoteRecord.self) }
        let outcomes = try await together(store, 3) { tx, index in try tx.save(Note(id: index, text: "waits")) }
        #expect(outcomes.allSatisfy { $0 == nil })
        let gate = DispatchSemaphore(value: 0)
        let (entered, entry) = AsyncStream<Void>.makeStream()
        let storage = store.storage
        let held = Task {
            try await storage.write { _ in
                entry.finish()
                gate.wait()
            }
        }
        for await _ in entered {}
        var waiting: [Task<CommitReceipt, any Error>] = []
        for id in 10..<13 {
            let queued = storage.engine.waitingCommits
            waiting.append(Task { try await storage.save(Note(id: id, text: "waits")) })
            while storage.engine.waitingCommits == queued { await Task.yield() }
        }
        let error = await #expect(throws: StorageError.self) { try await storage.save(Note(id: 99, text: "too many")) }
        #expect(error?.code == .overloaded)
        gate.signal()
        _ = try await held.value
        for task in waiting { _ = try await task.value }
        #expect(try await storage.count(Note.self) == 6)
    }
}
