import EntityTestSupport
import Foundation
import SchemaTestSupport
import StorageKit
import StorageMaintenance
import StorageTesting
import Synchronization
import TestSupport
import Testing

/// P5: a table is the fold of the log; damage to it is found, and a rebuild repairs it.
struct RebuildTests {
    func makeStore() async throws -> TemporaryStore {
        let store = try TemporaryStore { $0.autoSchema(NoteRecord.self, PersonRecord.self) }
        try await store.storage.write { tx in
            try tx.execute("CREATE INDEX notes_by_text ON notes(text)")
            try tx.execute(
                "CREATE TRIGGER notes_twice AFTER DELETE ON notes BEGIN INSERT OR REPLACE INTO persons(id, name, score, updatedAt) VALUES (OLD.id, 'ghost', 1.5, 0); END"
            )
        }
        try await store.storage.save((0..<50).map { Note(id: $0, text: "note \($0)") })
        for number in 0..<20 { try await store.storage.save(Note(id: number, text: "changed \(number)")) }
        for number in 10..<15 { try await store.storage.delete(Note.self, id: number) }
        try await store.storage.save(Note(id: 12, text: "again"))
        return store
    }

    func dump(_ storage: Storage) async throws -> [String] {
        try await storage.read { db in
            let tables = try String.fetchAll(
                db, sql: "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name")
            let notes = try String.fetchAll(
                db, sql: "SELECT quote(id) || quote(text) || quote(updatedAt) || _position FROM notes ORDER BY id")
            let people = try String.fetchAll(
                db, sql: "SELECT quote(id) || quote(name) || quote(score) || _position FROM persons ORDER BY id")
            let dead = try String.fetchAll(
                db, sql: "SELECT entity || hex(key) || position FROM storage_tombstone ORDER BY 1")
            return tables + notes + people + dead
        }
    }

    @Test("Rebuilding twice gives what was there")
    func rebuildIsIdempotent() async throws {
        let store = try await makeStore()
        let before = try await dump(store.storage)
        for _ in 0..<2 {
            try await store.storage.rebuild()
            #expect(try await dump(store.storage) == before)
            let report = try await store.storage.verify()
            #expect(report.isSound, "\(report.findings)")
        }
        // Capture goes on with the new tables.
        try await store.storage.save(Note(id: 1, text: "after"))
        try await store.reopen()
        #expect(try await store.storage.verify().isSound)
        #expect(try await store.storage.history(Note.self, id: 1).count == 3)
    }

    @Test("Damage to a table is found and repaired")
    func damagedTable() async throws {
        let store = try await makeStore()
        let before = try await dump(store.storage)
        try await store.storage.close()
        // A foreign program that knows nothing of the log.
        let foreign = try DatabaseQueue(path: store.url.path)
        try await foreign.write { db in
            try db.execute(sql: "UPDATE notes SET text = 'forged' WHERE id = 3")
            try db.execute(sql: "DROP TRIGGER notes_twice")
            try db.execute(sql: "DELETE FROM notes WHERE id = 4")
            try db.execute(sql: "UPDATE storage_tombstone SET position = 1")
            #expect(db.changesCount > 0)
            #expect(throws: DatabaseError.self) { try db.execute(sql: "DELETE FROM storage_log") }
            #expect(throws: DatabaseError.self) { try db.execute(sql: "UPDATE storage_log SET last = 1") }
        }
        try foreign.close()
        let readOnly = StorageConfig(isReadOnly: true)
        let reader = try StorageKit.start(at: store.url, config: readOnly).facade
        let report = try await reader.verify()
        try await reader.close()
        let messages = report.findings.map(\.description)
        #expect(messages.contains { $0.contains("row 3 differs") })
        #expect(messages.contains { $0.contains("row 4 is missing") })
        #expect(messages.contains { $0.contains("trigger") })
        let storage = try StorageKit.start(at: store.url).facade
        try await storage.write { tx in
            try tx.execute(
                "CREATE TRIGGER notes_twice AFTER DELETE ON notes BEGIN INSERT OR REPLACE INTO persons(id, name, score, updatedAt) VALUES (OLD.id, 'ghost', 1.5, 0); END"
            )
        }
        try await storage.rebuild()
        #expect(try await dump(storage) == before)
        #expect(try await storage.verify().isSound)
        try await storage.close()
    }

    /// As small as steps can be, each row of the log alone.
    var smallSteps: Rebuild.Pace {
        var pace = Rebuild.Pace()
        pace.limit = 1
        pace.collects = false
        return pace
    }

    func changeLots(_ storage: Storage, _ rounds: Range<Int>) async throws {
        for round in rounds {
            try await storage.write { tx in
                for id in 0..<20 { try tx.save(Note(id: id, text: "round \(round)")) }
                try tx.delete(Note.self, id: round % 20)
            }
        }
    }

    /// Commits go on between the steps, and nothing of them is missing afterwards.
    @Test("Commits continue during a rebuild", arguments: [(false, false), (true, false), (true, true)])
    func commitsDuringRebuild(collects: Bool, sorts: Bool) async throws {
        let store = try await makeStore()
        try await changeLots(store.storage, 0..<40)
        let storage = store.storage
        var pace = smallSteps
        (pace.collects, pace.sorts) = (collects, sorts)
        if sorts { pace.memory = 500 }
        let (steps, commits, done) = (Counter(), Counter(), Counter())
        let writing = Task {
            while done.value == 0 {
                let (id, step) = (1_000 + commits.value % 7, steps.value)
                try await storage.save(Note(id: id, text: "meanwhile \(commits.value)"))
                if commits.value % 5 == 0 { try await storage.delete(Note.self, id: id) }
                commits.add()
                // As many as the rebuild takes steps: more would only make its log longer.
                try await eventually { steps.value > step || done.value > 0 }
            }
        }
        // Further rounds only until there were commits during three of them.
        var (rounds, meanwhile) = (0, 0)
        while rounds < 3 || rounds < 100 && (meanwhile < 3 || commits.value <= 10) {
            let before = storage.head
            let report = try await Rebuild(storage.engine, pace: pace) { _ in steps.add() }.run()
            #expect(report.isSwapped)
            if report.position > before { meanwhile += 1 }
            rounds += 1
        }
        done.add()
        try await writing.value
        #expect(meanwhile >= 3)
        #expect(commits.value > 10)
        #expect(steps.value > 20)
        let verified = try await storage.verify()
        #expect(verified.isSound, "\(verified.findings)")
    }

    @Test("A cancelled rebuild resumes after reopening")
    func cancelledRebuildResumes() async throws {
        let store = try await makeStore()
        try await changeLots(store.storage, 0..<20)
        let before = try await dump(store.storage)
        let steps = Counter()
        let storage = store.storage
        let pace = smallSteps
        let rebuilding = Task {
            try await Rebuild(storage.engine, ["notes"], pace: pace) { _ in
                if steps.add() == 9 { withUnsafeCurrentTask { $0?.cancel() } }
            }.run()
        }
        await #expect(throws: CancellationError.self) { try await rebuilding.value }
        try await store.reopen()
        #expect(try await store.storage.verify().isSound)
        try await store.storage.save(Note(id: 7, text: "between"))
        try await store.storage.save(Note(id: 7, text: "round 19"))
        let reported = Mutex<[RebuildProgress]>([])
        let again = store.storage
        let report = try await Rebuild(again.engine, ["notes"], pace: pace) { progress in
            reported.withLock { $0.append(progress) }
        }.run()
        #expect(report.resumedAt > 0)
        #expect(report.isSwapped)
        // What the interrupted one has done isn't counted as this one's work.
        let reading = reported.withLock { $0 }.filter { $0.phase == .reading }
        let first = try #require(reading.first)
        #expect(first.completed == report.resumedAt)
        #expect(first.eventsPerSecond == nil)
        #expect(first.remaining == nil)
        for progress in reading where progress.completed > first.completed {
            let rate = try #require(progress.eventsPerSecond)
            let most = Double(progress.completed - first.completed)
            let seconds = progress.elapsed / .seconds(1)
            // The reading began later than the rebuild.
            #expect(rate * seconds >= most * 0.999)
            #expect(rate < most * 1_000_000)
            let remaining = try #require(progress.remaining) / .seconds(1)
            #expect(abs(remaining * rate - Double(progress.total - progress.completed)) < 1)
        }
        #expect(reading.last.map { $0.completed == $0.total } ?? false)
        #expect(reported.withLock { $0.last?.phase } == .swapping)
        let after = try await dump(store.storage)
        #expect(after.filter { !$0.hasPrefix("7'") } == before.filter { !$0.hasPrefix("7'") })
        #expect(try await store.storage.verify().isSound)
    }

    @Test("An unfinished rebuild can be discarded")
    func discardingRebuild() async throws {
        let store = try await makeStore()
        let tables = try await dump(store.storage)
        let storage = store.storage
        let pace = smallSteps
        let rebuilding = Task {
            try await Rebuild(storage.engine, pace: pace) { _ in withUnsafeCurrentTask { $0?.cancel() } }.run()
        }
        await #expect(throws: CancellationError.self) { try await rebuilding.value }
        #expect(try await dump(store.storage) != tables)
        try await store.storage.abandonRebuild()
        #expect(try await dump(store.storage) == tables)
        #expect(try await store.storage.rebuild().resumedAt == 0)
    }

    /// A migration in the middle makes the shadow worthless; the rebuild begins again with the new shape.
    @Test("A migration during a rebuild is followed", arguments: [false, true])
    func migrationDuringRebuild(sorts: Bool) async throws {
        let store = try await makeStore()
        try await changeLots(store.storage, 0..<20)
        let storage = store.storage
        let steps = Counter()
        var pace = smallSteps
        if sorts { (pace.collects, pace.sorts, pace.memory) = (true, true, 500) }
        let migrated = Task.detached {
            while steps.value < 6 { await Task.yield() }
            try await storage.write { tx in
                try tx.execute("ALTER TABLE notes ADD COLUMN stars INTEGER NOT NULL DEFAULT 3")
                try tx.execute("UPDATE notes SET stars = 5 WHERE id = 2")
            }
        }
        _ = try await Rebuild(storage.engine, pace: pace) { _ in steps.add() }.run()
        try await migrated.value
        let verified = try await storage.verify()
        #expect(verified.isSound, "\(verified.findings)")
        let stars = try await storage.read { try Int.fetchAll($0, sql: "SELECT DISTINCT stars FROM notes ORDER BY 1") }
        #expect(stars == [3, 5])
    }

    /// Rows from before a column hold its default without an event that says so.
    @Test(
        "A column's default comes back, whatever value it is",
        arguments: [
            "REAL DEFAULT 9e999", "REAL DEFAULT -9e999", "INTEGER DEFAULT -9223372036854775808", "REAL DEFAULT 1e-300",
            "TEXT DEFAULT 'it''s'", "TEXT DEFAULT ''", "BLOB DEFAULT x'0061'", "TEXT DEFAULT 'a\nb'", "DEFAULT 7",
        ])
    func anyDefault(declaration: String) async throws {
        let store = try await makeStore()
        let storage = store.storage
        let before = StoragePoint.position(storage.head)
        try await storage.write { try $0.execute("ALTER TABLE notes ADD COLUMN odd \(declaration)") }
        try await storage.write { try $0.execute("INSERT INTO notes(id, text, updatedAt) VALUES (100, 'late', 0)") }
        let values = "SELECT group_concat(quote(odd)) FROM notes WHERE id <= 3"
        let stored = try await storage.read { try String.fetchOne($0, sql: values) }
        let verified = try await storage.verify()
        #expect(verified.isSound, "\(verified.findings)")
        let past = try await storage.asOf(before).read { try String.fetchOne($0, sql: values) }
        #expect(past == stored)
        try await storage.rebuild()
        #expect(try await storage.read { try String.fetchOne($0, sql: values) } == stored)
    }

    @Test("Differences are reported before the tables are swapped")
    func differencesBeforeSwap() async throws {
        let store = try await makeStore()
        try await store.storage.close()
        let foreign = try DatabaseQueue(path: store.url.path)
        try await foreign.write { db in
            try db.execute(sql: "UPDATE notes SET text = 'forged' WHERE id = 3")
            try db.execute(sql: "INSERT INTO notes(id, text, updatedAt, _position) VALUES (99, 'new', 0, 1)")
        }
        try foreign.close()
        let storage = try StorageKit.start(at: store.url).facade
        let compared = try await storage.rebuild(options: RebuildOptions(compares: true, swaps: false))
        #expect(compared.differences.map(\.description) == ["notes/3 differs in text", "notes/99 isn't in the log"])
        #expect(!compared.isSwapped)
        #expect(compared.rows["notes"] == 46)
        #expect(try await !storage.verify().isSound)
        let kept = try await storage.rebuild("notes", options: RebuildOptions(compares: true, keepsOld: true))
        #expect(kept.differences == compared.differences)
        #expect(kept.isSwapped)
        let table = try #require(kept.kept["notes"])
        let forged = try await storage.read { db in
            try String.fetchAll(db, sql: "SELECT text FROM \(table) WHERE id IN (3, 99) ORDER BY id")
        }
        #expect(forged == ["forged", "new"])
        // What was kept isn't replaced by what would be kept next.
        let error = await #expect(throws: StorageError.self) {
            try await storage.rebuild("notes", options: RebuildOptions(keepsOld: true))
        }
        #expect(error?.code == .conflict)
        let count = "SELECT count(*) FROM \(table) WHERE id = 99"
        #expect(try await storage.read { try Int.fetchOne($0, sql: count) } == 1)
        let verified = try await storage.verify()
        #expect(verified.isSound, "\(verified.findings)")
        try await storage.abandonRebuild()
        await #expect(throws: (any Error).self) {
            try await storage.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM \(table)") }
        }
        try await storage.close()
    }

    /// Foreign keys of a shadow must not tie it to the tables that live on: a deletion there would reach into it, or be
    /// refused because of it.
    @Test("Tables with foreign keys are rebuilt beside deletions")
    func foreignKeysDuringRebuild() async throws {
        let store = try TemporaryStore { schema in
            schema.autoSchema(NoteRecord.self, PersonRecord.self)
            schema.migration("foreign key") { db in
                try db.execute(
                    sql: """
                        CREATE TABLE notes_new(
                          id INTEGER NOT NULL PRIMARY KEY, text TEXT NOT NULL REFERENCES persons(id) ON DELETE CASCADE,
                          updatedAt DATETIME NOT NULL);
                        DROP TABLE notes;
                        ALTER TABLE notes_new RENAME TO notes;
                        """)
            }
        }
        let storage = store.storage
        try await storage.save((0..<40).map { Person(id: "\($0)", name: "p", age: nil, score: 0) })
        for round in 0..<30 { try await storage.save((0..<40).map { Note(id: $0, text: "\(($0 + round) % 40)") }) }
        let (steps, done) = (Counter(), Counter())
        let deleting = Task {
            for id in 0..<10 {
                let seen = steps.value
                while steps.value < seen + 2, done.value == 0 { await Task.yield() }
                try await storage.delete(Person.self, id: "\(id)")
            }
        }
        _ = try await Rebuild(storage.engine, pace: smallSteps) { _ in steps.add() }.run()
        done.add()
        try await deleting.value
        let verified = try await storage.verify()
        #expect(verified.isSound, "\(verified.findings)")
        #expect(try await storage.count(Note.self) == 30)
        await #expect(throws: StorageError.self) { try await storage.save(Note(id: 100, text: "nobody")) }
    }

    /// Tables are derived: a store whose tables another program has dropped opens, and has them again.
    @Test("Dropped tables are recreated when the store is opened")
    func droppedTables() async throws {
        let store = try TemporaryStore {
            $0.autoSchema(NoteRecord.self, PersonRecord.self)
            $0.addFullTextSearch(table: "notes", columns: ["text"])
        }
        try await store.storage.write { tx in
            try tx.execute("CREATE INDEX notes_by_text ON notes(text)")
            for id in 0..<30 { try tx.save(Note(id: id, text: "note \(id)")) }
            for id in 0..<10 { try tx.delete(Note.self, id: id) }
        }
        let before = try await dump(store.storage)
        try await store.storage.close()
        let foreign = try DatabaseQueue(path: store.url.path)
        try await foreign.write { db in
            try db.execute(sql: "DROP TABLE notes")
            try db.execute(sql: "DROP TABLE persons")
        }
        try foreign.close()
        try await store.reopen()
        #expect(try await dump(store.storage) == before)
        let verified = try await store.storage.verify()
        #expect(verified.isSound, "\(verified.findings)")
        #expect(try await store.storage.search(Note.self, query: "note", limit: 100).count == 20)
    }

    @Test("A table that is dropped while the store is open comes back when it is opened again")
    func tableDroppedBesideStore() async throws {
        let store = try await makeStore()
        let before = try await dump(store.storage)
        let foreign = try store.otherProgram()
        try await foreign.write { try $0.execute(sql: "DROP TABLE notes") }
        try foreign.close()
        let storage = store.storage
        let calls: [(String, @Sendable () async throws -> Void)] = [
            ("count", { _ = try await storage.count(Note.self) }),
            ("get", { _ = try await storage.get(Note.self, id: 1) }),
            ("query", { _ = try await storage.query(Note.self).fetch() }),
            ("save", { try await storage.save(Note(id: 1, text: "lost")) }),
            ("save another", { try await storage.save(Person(id: "a", name: "a", score: 1)) }),
        ]
        for (name, call) in calls {
            let error = await #expect(throws: StorageError.self, "\(name)") { try await call() }
            #expect(error?.code == .corrupt, "\(name)")
            #expect(error?.message.contains("dropped the table of entity \"notes\"") == true, "\(name)")
        }
        try await store.reopen()
        #expect(try await dump(store.storage) == before)
        #expect(try await store.storage.verify().isSound)
    }

    /// While the store is open or closed.
    @Test(
        "A table that lacks a column isn't compared, and says how it is rebuilt",
        arguments: ["DROP COLUMN updatedAt", "RENAME COLUMN updatedAt TO other"], [true, false])
    func missingColumn(change: String, isOpen: Bool) async throws {
        let store = try await makeStore()
        let before = try await dump(store.storage)
        if !isOpen { try await store.storage.close() }
        let foreign = try store.otherProgram()
        try await foreign.write { try $0.execute(sql: "ALTER TABLE notes \(change)") }
        try foreign.close()
        let storage = isOpen ? store.storage : try StorageKit.start(at: store.url).facade
        let names = "SELECT name FROM sqlite_schema ORDER BY name"
        let found = try await storage.read { try String.fetchAll($0, sql: names) }
        for swaps in [false, true] {
            let error = await #expect(throws: StorageError.self) {
                try await storage.rebuild(options: RebuildOptions(compares: true, swaps: swaps))
            }
            #expect(error?.code == .corrupt)
            #expect(error?.message.contains("changed the table \"notes\"") == true)
            #expect(error?.message.contains("column updatedAt is missing") == true)
            #expect(error?.remedy.hasSuffix("storagekit rebuild notes") == true)
        }
        #expect(try await storage.read { try String.fetchAll($0, sql: names) } == found)
        try await storage.rebuild("notes")
        #expect(try await dump(storage) == before)
        try await storage.close()
    }

    /// What the log knows of a table is its indexes and triggers too.
    @Test("A rebuild recreates a dropped index")
    func droppedIndex() async throws {
        let store = try await makeStore()
        let before = try await dump(store.storage)
        try await store.storage.close()
        let foreign = try DatabaseQueue(path: store.url.path)
        try await foreign.write { db in try db.execute(sql: "DROP INDEX notes_by_text; DROP TRIGGER notes_twice") }
        try foreign.close()
        let storage = try StorageKit.start(at: store.url).facade
        #expect(try await !storage.verify().isSound)
        try await storage.rebuild("notes")
        #expect(try await dump(storage) == before)
        #expect(try await storage.verify().isSound)
        try await storage.close()
    }

    private static func declareCounted(in schema: inout Schema) {
        schema.migration("counted") { try $0.execute(sql: CountedTables.sql) }
        for table in CountedTables.names { schema.adopt(table) }
    }

    /// AUTOINCREMENT says that no number is given to two rows, also where the first is gone: their histories would be one.
    @Test("A rebuilt table goes on counting where it was", arguments: [false, true])
    func autoincrement(keepsOld: Bool) async throws {
        let storage = try StorageKit.inMemory { schema in
            Self.declareCounted(in: &schema)
        }.facade
        try await storage.write { tx in
            for statement in CountedTables.insertions(of: "a", "b", "c") { try tx.execute(statement) }
        }
        try await storage.write { try $0.execute(CountedTables.deletion) }
        for _ in 0..<2 {
            try await storage.rebuild(options: RebuildOptions(keepsOld: keepsOld))
            // Discards what was kept.
            try await storage.abandonRebuild()
        }
        try await storage.write { tx in
            for statement in CountedTables.insertions(of: "d") { try tx.execute(statement) }
        }
        let ids = try await storage.read { db in
            try CountedTables.names.map { try Int.fetchOne(db, sql: "SELECT max(id) FROM \($0)") }
        }
        #expect(ids == [4, 4])
        #expect(try await storage.verify().isSound)
        try await storage.close()
    }

    @Test("A table that is recreated when the store is opened goes on counting where it was")
    func autoincrementOfDroppedTable() async throws {
        let store = try TemporaryStore { schema in
            Self.declareCounted(in: &schema)
        }
        try await store.storage.write { tx in
            for statement in CountedTables.insertions(of: "a", "b", "c") { try tx.execute(statement) }
        }
        try await store.storage.write { try $0.execute(CountedTables.deletion) }
        try await store.storage.close()
        let foreign = try DatabaseQueue(path: store.url.path)
        try await foreign.write { db in try db.execute(sql: "DROP TABLE counted; DROP TABLE emptied") }
        try foreign.close()
        try await store.reopen()
        try await store.storage.write { tx in
            for statement in CountedTables.insertions(of: "d") { try tx.execute(statement) }
        }
        let ids = try await store.storage.read { db in
            try CountedTables.names.map { try Int.fetchOne(db, sql: "SELECT max(id) FROM \($0)") }
        }
        #expect(ids == [4, 4])
        let verified = try await store.storage.verify()
        #expect(verified.isSound, "\(verified.findings)")
    }
}
