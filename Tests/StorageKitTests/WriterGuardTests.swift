import CSQLite
import EntityTestSupport
import Foundation
import GRDB
import StorageKit
import StorageMaintenance
import StorageTesting
import Synchronization
import Testing

/// P4 against people who know GRDB and SQLite well: nothing that the connection inside a write allows goes around the log, or
/// outlives the write.
struct WriterGuardTests {
    /// What happened, in order.
    final class Record<Element: Sendable>: Sendable {
        private let elements = Mutex<[Element]>([])
        var all: [Element] { elements.withLock { $0 } }
        func append(_ element: Element) { elements.withLock { $0.append(element) } }
    }

    func makeStore() async throws -> TemporaryStore {
        let store = try TemporaryStore { $0.autoSchema(NoteRecord.self) }
        try await store.storage.save(Note(id: 1, text: "first"))
        return store
    }

    func insert(_ id: Int, _ text: String) -> String {
        "INSERT INTO notes(id, text, updatedAt) VALUES (\(id), '\(text)', '2026-01-01 00:00:00.000')"
    }

    /// The store holds these notes, in the table and in the log, and works on.
    func expect(_ texts: [String], _ store: TemporaryStore, _ comment: Comment = "") async throws {
        let found = try await store.storage.read { try String.fetchAll($0, sql: "SELECT text FROM notes ORDER BY id") }
        #expect(found == texts, comment)
        let report = try await store.storage.verify()
        #expect(report.isSound, "\(report.findings) \(comment)")
        try await store.storage.save(Note(id: 900, text: "later"))
        #expect(try await store.storage.verify().isSound, comment)
        try await store.storage.delete(Note.self, id: 900)
    }

    func refusal(_ store: TemporaryStore, _ body: @escaping @Sendable (WriteTransaction) throws -> Void) async
        -> StorageError?
    {
        do {
            try await store.storage.write { try body($0) }
            return nil
        } catch {
            return error as? StorageError
        }
    }

    // MARK: After the transaction

    @Test("What runs after the transaction can't write", arguments: [false, true])
    func writingAfterTransaction(rollsBack: Bool) async throws {
        let store = try await makeStore()
        let sql = insert(2, "hidden")
        let refused = Record<ResultCode>()
        let attempt: @Sendable (Database) -> Void = { db in
            for sql in [
                sql, "DELETE FROM notes", "UPDATE notes SET text = 'x'", "BEGIN IMMEDIATE", "CREATE TABLE x(y)",
            ] {
                do { try db.execute(sql: sql) } catch let error as DatabaseError {
                    refused.append(error.resultCode)
                } catch {}
            }
        }
        _ = await refusal(store) { tx in
            try tx.execute(insert(3, "second"))
            tx.database.afterNextTransaction(onCommit: attempt, onRollback: attempt)
            if rollsBack { try tx.execute("ROLLBACK") }
        }
        #expect(refused.all == Array(repeating: .SQLITE_READONLY, count: 5))
        try await expect(rollsBack ? ["first"] : ["first", "second"], store)
    }

    /// It has no file that another connection could have open: its one connection is barred by itself.
    @Test("Nothing writes to a store in memory after the transaction", arguments: [false, true])
    func writingAfterInMemoryTransaction(rollsBack: Bool) async throws {
        let container = try PersistenceContainer.inMemory { $0.autoSchema(NoteRecord.self) }
        let storage = container.storage
        try await storage.save(Note(id: 1, text: "first"))
        let refused = Record<ResultCode>()
        let (hidden, second) = (insert(2, "hidden"), insert(3, "second"))
        let attempt: @Sendable (Database) -> Void = { db in
            for sql in [hidden, "DELETE FROM notes", "UPDATE notes SET text = 'x'", "CREATE TABLE x(y)"] {
                do { try db.execute(sql: sql) } catch let error as DatabaseError {
                    refused.append(error.resultCode)
                } catch {}
            }
        }
        _ = try? await storage.write { tx in
            try tx.execute(second)
            tx.database.afterNextTransaction(onCommit: attempt, onRollback: attempt)
            if rollsBack { try tx.execute("ROLLBACK") }
        }
        #expect(refused.all.count == 4)
        #expect(try await storage.count(Note.self) == (rollsBack ? 1 : 2))
        #expect(try await storage.verify().isSound)
        try await storage.save(Note(id: 4, text: "later"))
        #expect(try await storage.verify().isSound)
    }

    @Test("A transaction observer can't write")
    func observerCantWrite() async throws {
        final class Observer: TransactionObserver, Sendable {
            let failed = Atomic(0)
            func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
            func databaseDidChange(with event: DatabaseEvent) {}
            func databaseDidCommit(_ db: Database) {
                do { try db.execute(sql: "DELETE FROM notes") } catch { failed.add(1, ordering: .relaxed) }
            }
            func databaseDidRollback(_ db: Database) {}
        }
        let store = try await makeStore()
        let observer = Observer()
        let reported = Record<ClosedRange<Int64>>()
        let observation = store.storage.engine.observers.add { events in
            reported.append(events.first...events.last)
        }
        try await store.storage.write { tx in tx.database.add(transactionObserver: observer, extent: .databaseLifetime)
        }
        let receipt = try await store.storage.save(Note(id: 2, text: "second"))
        #expect(observer.failed.load(ordering: .relaxed) > 0)
        #expect(reported.all == [receipt.first...receipt.last])
        observation.cancel()
        try await expect(["first", "second"], store)
    }

    @Test("Ending the transaction under a trace is refused")
    func rollbackUnderTrace() async throws {
        let store = try await makeStore()
        let ghost = insert(2, "ghost")
        let error = await refusal(store) { tx in
            tx.database.trace(options: .statement) { _ in }
            try tx.execute("ROLLBACK")
            try tx.execute(ghost)
        }
        #expect(error?.code == .invalidArgument)
        try await expect(["first"], store)
    }

    // MARK: Savepoints

    @Test("The savepoint around a commit isn't the body's")
    func savepointOfCommit() async throws {
        let store = try await makeStore()
        let lost = insert(2, "lost")
        for sql in [
            "\(lost); RELEASE storage_commit; SAVEPOINT storage_commit; SELECT no_such_function()",
            "\(lost); RELEASE storage_commit; SAVEPOINT storage_commit", "\(lost); RELEASE storage_commit",
            "\(lost); SAVEPOINT storage_commit",
        ] {
            let outcomes = try await together(store, 9) { tx, index in
                if index == 4 { try tx.execute(sql) } else { try tx.save(Note(id: 10 + index, text: "innocent")) }
            }
            for (index, outcome) in outcomes.enumerated() {
                #expect((outcome == nil) == (index != 4), "\(sql): \(index) \(String(describing: outcome))")
            }
            try await expect(["first"] + Array(repeating: "innocent", count: 8), store, "\(sql)")
        }
        // Undoing back to it undoes the body's own changes only.
        try await store.storage.write { tx in
            try tx.execute(lost)
            try tx.execute("ROLLBACK TO storage_commit")
            try tx.save(Note(id: 2, text: "kept"))
        }
        #expect(try await store.storage.get(Note.self, id: 2)?.text == "kept")
        #expect(try await store.storage.verify().isSound)
    }
}
