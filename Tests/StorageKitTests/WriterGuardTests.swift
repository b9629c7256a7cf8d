import CSQLite
import Foundation
import GRDB
import ProcessTestSupport
import StorageKit
import StorageMaintenance
import StorageTesting
import Synchronization
import Testing

/// P4 against people who know GRDB and SQLite well: nothing that the connection inside a write allows goes around the log, or
/// outlives the write.
struct WriterGuardTests {
    /// What happened, in order.
    private final class Record<Element: Sendable>: Sendable {
        private let elements = Mutex<[Element]>([])
        var all: [Element] { elements.withLock { $0 } }
        func append(_ element: Element) { elements.withLock { $0.append(element) } }
    }

    private func makeStore() async throws -> TemporaryStore {
        let store = try TemporaryStore { $0.autoSchema(NoteRecord.self) }
        try await store.storage.save(Note(id: 1, text: "first"))
        return store
    }

    private func insert(_ id: Int, _ text: String) -> String {
        "INSERT INTO notes(id, text, updatedAt) VALUES (\(id), '\(text)', '2026-01-01 00:00:00.000')"
    }

    /// The store holds these notes, in the table and in the log, and goes on working.
    private func expect(_ texts: [String], _ store: TemporaryStore, _ comment: Comment = "") async throws {
        let found = try await store.storage.read { try String.fetchAll($0, sql: "SELECT text FROM notes ORDER BY id") }
        #expect(found == texts, comment)
        let report = try await store.storage.verify()
        #expect(report.isSound, "\(report.findings) \(comment)")
        try await store.storage.save(Note(id: 900, text: "later"))
        #expect(try await store.storage.verify().isSound, comment)
        try await store.storage.delete(Note.self, id: 900)
    }

    private func refusal(_ store: TemporaryStore, _ body: @escaping @Sendable (WriteTransaction) throws -> Void) async
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
        let told = Record<ClosedRange<Int64>>()
        let observation = store.storage.engine.observers.add { events in
            told.append(events.first...events.last)
        }
        try await store.storage.write { tx in tx.database.add(transactionObserver: observer, extent: .databaseLifetime)
        }
        let receipt = try await store.storage.save(Note(id: 2, text: "second"))
        #expect(observer.failed.load(ordering: .relaxed) > 0)
        #expect(told.all == [receipt.first...receipt.last])
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

    // MARK: Neighbours

    /// Runs writes so that they meet in one transaction. Nil for those that succeeded.
    private func together(
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
        let blob = String(repeating: "x", count: 60 << 20)
        let outcomes = try await together(store, 10) { tx, index in try tx.save(Note(id: 10 + index, text: blob)) }
        #expect(outcomes.allSatisfy { $0 == nil })
        #expect(try await store.storage.count(Note.self) == 11)
    }

    @Test("Commits before a large one don't wait for it")
    func noWaitForLargeCommit() async throws {
        let store = try await makeStore()
        let storage = store.storage
        let isLarge = testScale >= 5
        let (savers, rows) = isLarge ? (200, 400_000) : (40, 60_000)
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
        let told = order.all
        let place = try #require(told.firstIndex(of: large))
        // Their tasks may be slow to go on, but none of those behind it can have been answered before it.
        #expect(told[..<place].allSatisfy { $0 < large })
        #expect(try await storage.count(Note.self) == rows + savers + 1)
        #expect(try await storage.verify().isSound)
    }

    /// Also where it changes nothing in that time, and passes over its interruption.
    @Test("Commits before a long read don't wait for it", arguments: [false, true])
    func noWaitForLongRead(swallows: Bool) async throws {
        let store = try await makeStore()
        let storage = store.storage
        let committed = Record<Int64>()
        let (long, last) = (30, 3_000_000)
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

    // MARK: The connection

    @Test(
        "Settings of the connection stay",
        arguments: [
            "PRAGMA query_only = 1", "PRAGMA ignore_check_constraints = 1", "PRAGMA recursive_triggers = 1",
            "PRAGMA reverse_unordered_selects = 1", "PRAGMA case_sensitive_like = 1", "PRAGMA application_id = 7",
            "PRAGMA locking_mode = EXCLUSIVE", "PRAGMA max_page_count = 20", "PRAGMA trusted_schema = 0",
        ])
    func connectionSettings(sql: String) async throws {
        let store = try await makeStore()
        let outcomes = try await together(store, 3) { tx, index in
            if index == 1 { try tx.execute(sql) } else { try tx.save(Note(id: 10 + index, text: "innocent")) }
        }
        #expect(outcomes[0] == nil, "\(outcomes)")
        #expect(outcomes[2] == nil, "\(outcomes)")
        #expect(outcomes[1] != nil)
        try await expect(["first", "innocent", "innocent"], store)
        #expect(try await store.storage.engine.withWriter { try Int.fetchOne($1, sql: "SELECT 'a' LIKE 'A'") } == 1)
        try await store.reopen()
        #expect(try await store.storage.verify().isSound)
    }

    @Test("Deferred foreign keys end with the write")
    func deferredKeysEndWithWrite() async throws {
        let store = try await makeStore()
        try await store.storage.write { try $0.execute("PRAGMA defer_foreign_keys = 1") }
        #expect(
            try await store.storage.engine.withWriter { try Int.fetchOne($1, sql: "PRAGMA defer_foreign_keys") } == 0)
    }

    @Test("Deferred foreign keys are still checked")
    func deferredKeysAreChecked() async throws {
        let store = try await makeStore()
        try await store.storage.write {
            try $0.execute("CREATE TABLE parent(id INTEGER PRIMARY KEY)")
            try $0.execute("CREATE TABLE child(id INTEGER PRIMARY KEY, parent REFERENCES parent(id))")
        }
        let error = await refusal(store) {
            try $0.execute("PRAGMA defer_foreign_keys = 1")
            try $0.execute("INSERT INTO child VALUES (1, 7)")
        }
        #expect(error?.code == .conflict)
        try await store.storage.write {
            try $0.execute("PRAGMA defer_foreign_keys = 1")
            try $0.execute("INSERT INTO child VALUES (1, 7)")
            try $0.execute("INSERT INTO parent VALUES (7)")
        }
        try await expect(["first"], store)
    }

    @Test("Another file can't be attached")
    func attachingIsRefused() async throws {
        let store = try await makeStore()
        let error = await refusal(store) { try $0.execute("ATTACH '/nonexistent/folder/x.db' AS other") }
        #expect(error != nil)
        let another = await refusal(store) { try $0.execute("ATTACH ':memory:' AS other") }
        #expect(another != nil)
        try await expect(["first"], store)
    }

    @Test("An error of a body isn't taken for one of the disk")
    func bodyErrorIsNoDiskError() async throws {
        let store = try await makeStore()
        for code in [StorageError.Code.ioError, .corrupt, .unusable] {
            let error = await refusal(store) { _ in throw StorageError(code, "my own file", remedy: "none") }
            #expect(error?.message == "my own file")
        }
        let broken = store.url.deletingLastPathComponent().appendingPathComponent("broken-\(UUID().uuidString)")
        try Data(repeating: 7, count: 8_192).write(to: broken)
        defer { try? FileManager.default.removeItem(at: broken) }
        let error = await refusal(store) { _ in
            _ = try DatabaseQueue(path: broken.path).read { try $0.tableExists("x") }
        }
        #expect(error?.code == .corrupt)
        try await expect(["first"], store)
    }

    @Test("Temporary objects don't hide entities")
    func temporaryObjects() async throws {
        let store = try await makeStore()
        for sql in [
            "CREATE TEMP TABLE notes AS SELECT * FROM main.notes", "CREATE TEMP VIEW Notes AS SELECT 1 AS id",
            "CREATE TEMP TABLE storage_log(x)",
            "CREATE TEMP TRIGGER evil AFTER UPDATE ON main.notes BEGIN DELETE FROM notes; END",
        ] {
            let error = await refusal(store) { try $0.execute(sql) }
            #expect(error?.code == .invalidArgument, "\(sql): \(String(describing: error))")
        }
        // One of another name is nobody's concern.
        try await store.storage.write { try $0.execute("CREATE TEMP TABLE mine(x); INSERT INTO mine VALUES (1)") }
        try await expect(["first"], store)
    }

    /// Outside of a transaction there is no commit to be refused, and the bar is that of the file.
    @Test(
        "Temporary objects don't outlive the write that made them",
        arguments: [
            "CREATE TEMP TABLE notes(id INTEGER PRIMARY KEY, text, updatedAt, _position)",
            "CREATE TEMP VIEW notes AS SELECT 1 AS id, 'hidden' AS text",
            "CREATE TEMP TRIGGER evil AFTER INSERT ON main.notes BEGIN DELETE FROM notes; END",
        ], ["behind", "rolled back", "behind a refused write", "before a refused write"])
    func temporaryObjectsAreDropped(sql: String, way: String) async throws {
        struct Refusal: Error {}
        let store = try await makeStore()
        let made = Record<Bool>()
        let make: @Sendable (Database) -> Void = { db in made.append((try? db.execute(sql: sql)) != nil) }
        _ = await refusal(store) { tx in
            if way == "rolled back" {
                try tx.execute("ROLLBACK")
                make(tx.database)
                throw Refusal()
            }
            tx.database.afterNextTransaction(onCommit: make, onRollback: make)
            if way == "behind a refused write" { throw Refusal() }
        }
        #expect(made.all == [true])
        if way == "before a refused write" { _ = await refusal(store) { _ in throw Refusal() } }
        let receipt = try await store.storage.save(Note(id: 2, text: "second"))
        #expect(receipt.commit != nil)
        try await store.storage.write { try $0.execute(insert(3, "third")) }
        try await expect(["first", "second", "third"], store)
    }

    /// Nobody's concern when it was made, it would hide the entity that comes to have its name.
    @Test("An entity can't take the name of a temporary table")
    func entityNamedLikeTemporaryTable() async throws {
        let store = try await makeStore()
        try await store.storage.write { tx in
            let notes = "SELECT sql FROM main.sqlite_schema WHERE name = 'notes'"
            let sql = try #require(try String.fetchOne(tx.database, sql: notes))
            try tx.execute(sql.replacing("CREATE TABLE", with: "CREATE TEMP TABLE").replacing("notes", with: "later"))
        }
        let error = await refusal(store) { try $0.execute("ALTER TABLE notes RENAME TO later") }
        #expect(error?.code == .invalidArgument)
        try await expect(["first"], store)
    }

    @Test("Functions of the engine can't be replaced")
    func engineFunctions() async throws {
        let store = try await makeStore()
        let error = await refusal(store) { tx in
            tx.database.add(function: DatabaseFunction("storage_engine", argumentCount: 0) { _ in 1 })
            try tx.execute("DELETE FROM storage_log")
        }
        #expect(error != nil)
        let other = await refusal(store) { tx in
            tx.database.add(function: DatabaseFunction("storage_identical", argumentCount: 2) { _ in 1 })
        }
        #expect(other?.code == .invalidArgument)
        try await store.storage.write {
            $0.database.add(function: DatabaseFunction("mine", argumentCount: 0) { _ in 1 })
        }
        try await expect(["first"], store)
    }

    // MARK: The engine's tables

    @Test(
        "The engine's tables can't be changed",
        arguments: [
            "DROP TRIGGER storage_log_delete; DELETE FROM storage_log", "DROP TABLE storage_log",
            "DROP TABLE storage_tombstone",
            "UPDATE storage_meta SET format = 99", "UPDATE storage_meta SET writer_epoch = 0",
            "DELETE FROM storage_commit_key",
            "INSERT INTO storage_commit_key VALUES ('k', 0, 1, 0, 0)",
            "INSERT INTO storage_tombstone VALUES (77, x'00', 1)",
            "INSERT INTO storage_import VALUES ('x', 'y')", "UPDATE storage_catalog SET name = 'other'",
            "CREATE TRIGGER evil AFTER INSERT ON storage_operation BEGIN DELETE FROM notes; END",
            "CREATE INDEX mine ON storage_log(last)", "CREATE TABLE storage_mine(x)",
            "CREATE VIEW storage_view AS SELECT 1",
            "ALTER TABLE notes RENAME TO storage_notes",
            "PRAGMA writable_schema = 1; UPDATE sqlite_schema SET sql = 'x'",
            "ALTER TABLE storage_log ADD COLUMN mine", "INSERT INTO FTS(FTS) VALUES ('delete-all')",
            "DELETE FROM FTS", "DROP TABLE FTS", "DELETE FROM FTS_data",
        ])
    func engineTables(sql: String) async throws {
        let store = try TemporaryStore {
            $0.autoSchema(NoteRecord.self)
            $0.addFullTextSearch(table: "notes", columns: ["text"])
        }
        try await store.storage.save(Note(id: 1, text: "first"))
        let index = try #require(
            try await store.storage.read {
                try String.fetchOne($0, sql: "SELECT name FROM sqlite_schema WHERE sql LIKE 'CREATE VIRTUAL%'")
            })
        let sql = sql.replacing("FTS", with: index)
        try await store.storage.write(idempotencyKey: "key") { try $0.save(Note(id: 5, text: "x")) }
        try await store.storage.delete(Note.self, id: 5)
        let error = await refusal(store) { try $0.execute(sql) }
        #expect(error != nil, "\(sql)")
        try await expect(["first"], store)
        try await store.reopen()
        #expect(try await store.storage.verify().isSound)
    }

    // MARK: Changes that capture can't see

    @Test("Incremental blob writes are refused")
    func incrementalBlobWrites() async throws {
        let store = try await makeStore()
        let error = await refusal(store) { tx in
            var blob: OpaquePointer?
            let connection = tx.database.sqliteConnection
            #expect(sqlite3_blob_open(connection, "main", "notes", "text", 1, 1, &blob) == SQLITE_OK)
            #expect(sqlite3_blob_write(blob, "FIRST", 5, 0) == SQLITE_OK)
            sqlite3_blob_close(blob)
        }
        #expect(error?.code == .invalidArgument)
        try await expect(["first"], store)
    }

    @Test("Generated columns are refused")
    func generatedColumns() async throws {
        let store = try await makeStore()
        let error = await refusal(store) { tx in
            try tx.execute("ALTER TABLE notes ADD COLUMN twice GENERATED ALWAYS AS (id * 2) VIRTUAL")
            try tx.execute(insert(2, "x"))
        }
        #expect(error?.code == .schemaMismatch)
        try await expect(["first"], store)
    }

    @Test(
        "Text that isn't UTF-8 is refused",
        arguments: ["fe", "c080", "eda080", "f4908080", "e282", "6161616161616161ff", "c3"])
    func invalidUTF8(hex: String) async throws {
        let store = try await makeStore()
        let error = await refusal(store) {
            try $0.execute("UPDATE notes SET text = CAST(x'\(hex)' AS TEXT) WHERE id = 1")
        }
        #expect(error?.code == .invalidValue)
        try await expect(["first"], store)
    }

    @Test("Any UTF-8 text is stored")
    func anyUTF8() async throws {
        let store = try await makeStore()
        let texts = [
            "", "a", "é", "€", "😀", "\u{7FF}\u{800}\u{FFFF}\u{10000}\u{10FFFF}", "\u{D7FF}\u{E000}", "12345678é",
            "1234567é8",
        ]
        for text in texts {
            try await store.storage.save(Note(id: 1, text: text))
            #expect(try await store.storage.get(Note.self, id: 1)?.text == text)
        }
    }

    @Test("A trace with changes of the schema is refused")
    func traceWithSchemaChange() async throws {
        let store = try await makeStore()
        try await store.storage.write { tx in
            try tx.execute("CREATE TABLE r(id INTEGER PRIMARY KEY, body TEXT, n INTEGER)")
        }
        let error = await refusal(store) { tx in
            tx.database.trace(options: .statement) { _ in }
            try tx.execute("ALTER TABLE notes RENAME COLUMN text TO words")
            try tx.execute("ALTER TABLE notes ADD COLUMN text TEXT")
        }
        #expect(error?.code == .invalidArgument)
        // A trace alone is fine, in its own write.
        let traced = Record<Bool>()
        try await store.storage.write { tx in
            tx.database.trace(options: .statement) { _ in traced.append(true) }
            try tx.execute(insert(2, "second"))
        }
        #expect(!traced.all.isEmpty)
        try await expect(["first", "second"], store)
    }
}
