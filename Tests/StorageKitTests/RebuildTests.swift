import Foundation
import ProcessTestSupport
import StorageKit
import StorageMaintenance
import StorageTesting
import Synchronization
import Testing

/// P5: a table is the fold of the log; damage to it is found, and a rebuild mends it.
struct RebuildTests {
    private func makeStore() async throws -> TemporaryStore {
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

    private func dump(_ storage: Storage) async throws -> [String] {
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
    private var smallSteps: Rebuild.Pace {
        var pace = Rebuild.Pace()
        pace.limit = 1
        pace.collects = false
        return pace
    }

    private func changeLots(_ storage: Storage, _ rounds: Range<Int>) async throws {
        for round in rounds {
            try await storage.write { tx in
                for id in 0..<20 { try tx.save(Note(id: id, text: "round \(round)")) }
                try tx.delete(Note.self, id: round % 20)
            }
        }
    }

    /// Commits go on between the steps, and nothing of them is missing afterwards.
    @Test("Commits continue during a rebuild", arguments: [false, true])
    func commitsDuringRebuild(collects: Bool) async throws {
        let store = try await makeStore()
        try await changeLots(store.storage, 0..<40)
        let storage = store.storage
        var pace = smallSteps
        pace.collects = collects
        let (steps, commits, done) = (Counter(), Counter(), Counter())
        let writing = Task {
            while done.value == 0 {
                let id = 1_000 + commits.value % 7
                try await storage.save(Note(id: id, text: "meanwhile \(commits.value)"))
                if commits.value % 5 == 0 { try await storage.delete(Note.self, id: id) }
                commits.increase()
            }
        }
        // Further rounds only until there were commits during three of them.
        var (rounds, meanwhile) = (0, 0)
        while rounds < 3 || rounds < 100 && (meanwhile < 3 || commits.value <= 10) {
            let before = storage.head
            let report = try await Rebuild(storage.engine, pace: pace) { _ in steps.increase() }.run()
            #expect(report.isSwapped)
            if report.position > before { meanwhile += 1 }
            rounds += 1
        }
        done.increase()
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
                if steps.increase() == 9 { withUnsafeCurrentTask { $0?.cancel() } }
            }.run()
        }
        await #expect(throws: CancellationError.self) { try await rebuilding.value }
        try await store.reopen()
        #expect(try await store.storage.verify().isSound)
        try await store.storage.save(Note(id: 7, text: "between"))
        try await store.storage.save(Note(id: 7, text: "round 19"))
        let told = Mutex<[RebuildProgress]>([])
        let again = store.storage
        let report = try await Rebuild(again.engine, ["notes"], pace: pace) { progress in
            told.withLock { $0.append(progress) }
        }.run()
        #expect(report.resumedAt > 0)
        #expect(report.isSwapped)
        // What the interrupted one has done isn't counted as this one's work.
        let reading = told.withLock { $0 }.filter { $0.phase == .reading }
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
        #expect(told.withLock { $0.last?.phase } == .swapping)
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
    @Test("A migration during a rebuild is followed")
    func migrationDuringRebuild() async throws {
        let store = try await makeStore()
        try await changeLots(store.storage, 0..<20)
        let storage = store.storage
        let steps = Counter()
        let pace = smallSteps
        let migrated = Task.detached {
            while steps.value < 6 { await Task.yield() }
            try await storage.write { tx in
                try tx.execute("ALTER TABLE notes ADD COLUMN stars INTEGER NOT NULL DEFAULT 3")
                try tx.execute("UPDATE notes SET stars = 5 WHERE id = 2")
            }
        }
        _ = try await Rebuild(storage.engine, pace: pace) { _ in steps.increase() }.run()
        try await migrated.value
        let verified = try await storage.verify()
        #expect(verified.isSound, "\(verified.findings)")
        let stars = try await storage.read { try Int.fetchAll($0, sql: "SELECT DISTINCT stars FROM notes ORDER BY 1") }
        #expect(stars == [3, 5])
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
        _ = try await Rebuild(storage.engine, pace: smallSteps) { _ in steps.increase() }.run()
        done.increase()
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

    /// Values of every kind and size come in the place of others, also where so many do that their memory has to be tidied up.
    @Test("Values of every kind replace each other", arguments: 0..<4)
    func valuesOfEveryKind(seed: Int) async throws {
        let store = try TemporaryStore { schema in
            schema.migration("things") { try $0.execute(sql: "CREATE TABLE things(id INTEGER PRIMARY KEY, v, w)") }
            schema.adopt("things")
        }
        var random = SplitMix64(seed: UInt64(seed))
        try await store.storage.write { tx in
            for id in 0..<30 { try tx.execute("INSERT INTO things(id, v, w) VALUES (\(id), -1, '')") }
        }
        for _ in 0..<40 {
            let statements = (0..<20).map { _ in
                let size = [0, 1, 40, 63, 64, 65, 95, 96, 97, 500, 20_000].randomElement(using: &random)!
                let value = [
                    "NULL", "-1", "0", "1.5", "''", "x''", "printf('%.*c', \(size), 'a')", "zeroblob(\(size))",
                ].randomElement(using: &random)!
                let id = Int.random(in: 0..<30, using: &random)
                return Int.random(in: 0..<9, using: &random) > 0
                    ? "UPDATE things SET \(Bool.random(using: &random) ? "v" : "w") = \(value) WHERE id = \(id)"
                    : "INSERT OR REPLACE INTO things(id, v) VALUES (\(id), \(value))"
            }
            try await store.storage.write { tx in for sql in statements { try tx.execute(sql) } }
        }
        func rows() async throws -> [String] {
            try await store.storage.read { db in
                try String.fetchAll(
                    db, sql: "SELECT id || quote(v) || quote(w) || _position FROM things ORDER BY id")
            }
        }
        let before = try await rows()
        for (memory, seeks) in [(20_000, true), (100_000, false), (100_000, true), (3 << 20, true)] {
            var pace = Rebuild.Pace()
            (pace.memory, pace.seeksNeeded) = (memory, seeks)
            let report = try await Rebuild(store.storage.engine, pace: pace).run()
            #expect(report.rows == ["things": before.count])
            #expect(try await rows() == before, "seed \(seed), memory \(memory)")
        }
        #expect(try await store.storage.verify().isSound)
    }

    /// A stretch that is put together gives the same tables and tombstones as its events one by one, wherever it ends.
    @Test("Folded ranges equal replaying event by event", arguments: 0..<8)
    func foldedRangesEqualReplay(seed: Int) async throws {
        let store = try TemporaryStore { $0.autoSchema(NoteRecord.self, PersonRecord.self) }
        var random = SplitMix64(seed: UInt64(seed))
        for _ in 0..<40 {
            let choices = (0..<12).map { _ in
                (Int.random(in: 0..<6, using: &random), Int.random(in: 0..<9, using: &random))
            }
            try await store.storage.write { tx in
                for (kind, id) in choices {
                    switch kind {
                    case 0: try tx.delete(Note.self, id: id)
                    case 1: try tx.execute("UPDATE notes SET text = text || 'x' WHERE id % 3 = \(id % 3)")
                    case 2: try tx.execute("DELETE FROM persons WHERE id = \(id)")
                    case 3: try tx.execute("UPDATE persons SET score = score + 1 WHERE id = \(id)")
                    case 4: try tx.save(Note(id: id, text: "n\(id)"))
                    default:
                        try tx.execute(
                            "INSERT OR REPLACE INTO persons(id, name, score, updatedAt) VALUES (\(id), 'p', \(kind), 0)"
                        )
                    }
                }
            }
        }
        let before = try await dump(store.storage)
        var pace = Rebuild.Pace()
        for (collects, limit) in [(true, Int.max), (true, 100), (true, 1), (false, Int.max), (false, 1)] {
            for (seeks, gap) in collects ? [(true, 1), (true, 7), (true, 1 << 40), (false, 7)] : [(true, Int64(7))] {
                (pace.collects, pace.limit, pace.seeksNeeded, pace.gap) = (collects, limit, seeks, gap)
                _ = try await Rebuild(store.storage.engine, pace: pace).run()
                #expect(try await dump(store.storage) == before, "seed \(seed), \(pace)")
            }
        }
        #expect(try await store.storage.verify().isSound)
    }

    /// A rebuild that leaves out what isn't needed can be gone on with from wherever it stopped, in whatever way, also when more
    /// has been committed by then.
    @Test("Events that were skipped can be applied afterwards", arguments: 0..<12)
    func skippedEventsComeLater(seed: Int) async throws {
        let store = try TemporaryStore { schema in
            schema.migration("things") { try $0.execute(sql: "CREATE TABLE things(id INTEGER PRIMARY KEY, a, b, c)") }
            schema.adopt("things")
        }
        let storage = store.storage
        var random = SplitMix64(seed: UInt64(seed))
        func change(_ commits: Int) async throws {
            for _ in 0..<commits {
                let id = Int.random(in: 0..<12, using: &random)
                let column = ["a", "b", "c"].randomElement(using: &random)!
                let sql =
                    switch Int.random(in: 0..<8, using: &random) {
                    case 0: "DELETE FROM things WHERE id = \(id)"
                    case 1, 2: "INSERT OR REPLACE INTO things(id, a) VALUES (\(id), random())"
                    default: "UPDATE things SET \(column) = random() WHERE id % 4 = \(id % 4)"
                    }
                try await storage.write { try $0.execute(sql) }
            }
        }
        func rows() async throws -> [String] {
            try await storage.read { db in
                try String.fetchAll(
                    db, sql: "SELECT id || quote(a) || quote(b) || quote(c) || _position FROM things ORDER BY id")
                    + String.fetchAll(db, sql: "SELECT hex(key) || position FROM storage_tombstone ORDER BY 1")
            }
        }
        try await change(120)
        var pace = Rebuild.Pace()
        (pace.limit, pace.seeksNeeded, pace.gap) = (1, true, 5)
        let steps = Counter()
        let last = Int.random(in: 3..<12, using: &random)
        let rebuilding = Task { [pace] in
            try await Rebuild(storage.engine, pace: pace) { _ in
                if steps.increase() == last { withUnsafeCurrentTask { $0?.cancel() } }
            }.run()
        }
        await #expect(throws: CancellationError.self) { try await rebuilding.value }
        try await change(seed % 2 * 40)
        let before = try await rows()
        (pace.collects, pace.seeksNeeded) = (seed % 3 > 0, seed % 4 > 1)
        let report = try await Rebuild(storage.engine, pace: pace).run()
        #expect(report.resumedAt > 0)
        #expect(try await rows() == before, "seed \(seed)")
        #expect(try await storage.verify().isSound)
    }

    /// Where stretches bring the same rows again and again, it is found out by itself which events are needed: the rows are
    /// written in fewer steps then, and are the same.
    @Test("Superseded versions far apart are skipped")
    func supersededVersionsAreSkipped() async throws {
        let store = try TemporaryStore { $0.autoSchema(NoteRecord.self) }
        let storage = store.storage
        for version in 0..<6 { try await storage.save((0..<2_500).map { Note(id: $0, text: "version \(version)") }) }
        func notes() async throws -> [String] {
            try await storage.read { db in
                try String.fetchAll(
                    db, sql: "SELECT id || quote(text) || quote(updatedAt) || _position FROM notes ORDER BY id")
            }
        }
        let before = try await notes()
        var steps: [Bool?: Int] = [:]
        for seeks in [nil, false] as [Bool?] {
            var pace = Rebuild.Pace()
            // A stretch holds far fewer rows than there are, also where it may be five times as long.
            (pace.memory, pace.seeksNeeded, pace.gap) = (20_000, seeks, 100)
            let count = Counter()
            _ = try await Rebuild(storage.engine, ["notes"], pace: pace) { _ in count.increase() }.run()
            #expect(try await notes() == before)
            steps[seeks] = count.value
        }
        #expect(try #require(steps[nil]) < #require(steps[false]), "\(steps)")
        #expect(try await storage.verify().isSound)
    }

    /// Values that never stood side by side may break a constraint of their table while others are still to come.
    @Test("Rows without superseded values may violate constraints")
    func skippingAcrossConstraints() async throws {
        let store = try TemporaryStore { schema in
            schema.migration("spans") { db in
                try db.execute(sql: "CREATE TABLE spans(id INTEGER PRIMARY KEY, low, high, CHECK (low < high))")
            }
            schema.adopt("spans")
        }
        let storage = store.storage
        try await storage.write { try $0.execute("INSERT INTO spans(id, low, high) VALUES (1, 1, 2), (2, 1, 2)") }
        for place in 1..<20 {
            try await storage.write { try $0.execute("UPDATE spans SET high = \(10 * place + 10)") }
            try await storage.write { try $0.execute("UPDATE spans SET low = \(10 * place)") }
        }
        try await storage.write { try $0.execute("UPDATE spans SET high = 1000 WHERE id = 1") }
        let select = "SELECT id || '|' || low || '|' || high || '|' || _position FROM spans ORDER BY id"
        let before = try await storage.read { try String.fetchAll($0, sql: select) }
        var pace = Rebuild.Pace()
        pace.seeksNeeded = true
        for limit in [1, 3, Int.max] {
            pace.limit = limit
            _ = try await Rebuild(storage.engine, pace: pace).run()
            #expect(try await storage.read { try String.fetchAll($0, sql: select) } == before, "\(limit) events")
        }
        #expect(try await storage.verify().isSound)
    }

    /// Rows that exchange what must be unique can do it one after the other only, as they did.
    @Test("Rows that swap a unique value are rebuilt")
    func swappedUniqueValues() async throws {
        let store = try TemporaryStore { schema in
            schema.autoSchema(NoteRecord.self)
            schema.migration("unique") { db in
                try db.execute(
                    sql: """
                        CREATE TABLE notes_new(
                          id INTEGER NOT NULL PRIMARY KEY, text TEXT NOT NULL UNIQUE, updatedAt DATETIME NOT NULL);
                        DROP TABLE notes;
                        ALTER TABLE notes_new RENAME TO notes;
                        """)
            }
        }
        let storage = store.storage
        try await storage.save((0..<20).map { Note(id: $0, text: "n\($0)") })
        for round in 0..<10 {
            try await storage.write { tx in
                let (one, other) = (2 * round, 2 * round + 1)
                try tx.execute("UPDATE notes SET text = 'free' WHERE id = \(one)")
                try tx.execute("UPDATE notes SET text = 'n\(one)' WHERE id = \(other)")
                try tx.execute("UPDATE notes SET text = 'n\(other)' WHERE id = \(one)")
            }
        }
        let select = "SELECT id || text || _position FROM notes ORDER BY id"
        let before = try await storage.read { try String.fetchAll($0, sql: select) }
        var pace = Rebuild.Pace()
        // The first stretch ends where the exchanges have begun, so that those rows are in the table already.
        for limit in [1, 40, Int.max] {
            for seeks in [true, false] {
                (pace.limit, pace.seeksNeeded) = (limit, seeks)
                _ = try await Rebuild(storage.engine, pace: pace).run()
                #expect(try await storage.read { try String.fetchAll($0, sql: select) } == before, "\(limit) events")
            }
        }
        #expect(try await storage.verify().isSound)
    }

    /// What the schema says of conflicts is for those who write rows; a rebuild puts back what was there.
    @Test("Conflict clauses of the schema don't affect a rebuild", arguments: ["REPLACE", "IGNORE"])
    func conflictClauses(clause: String) async throws {
        let store = try TemporaryStore { schema in
            schema.migration("u") { db in
                try db.execute(
                    sql: "CREATE TABLE u(id INTEGER PRIMARY KEY, x UNIQUE ON CONFLICT \(clause), y TEXT NOT NULL)")
            }
            schema.adopt("u")
        }
        let storage = store.storage
        try await storage.write { tx in
            try tx.execute(
                """
                INSERT INTO u(id, x, y) WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
                SELECT i, i, hex(zeroblob(20)) FROM n
                """)
        }
        for (one, other) in [(1, 2), (3, 40)] {
            try await storage.write { tx in
                try tx.execute("UPDATE u SET x = NULL WHERE id = \(one)")
                try tx.execute("UPDATE u SET x = \(one) WHERE id = \(other)")
                try tx.execute("UPDATE u SET x = \(other) WHERE id = \(one)")
            }
        }
        let select = "SELECT id || '|' || x || '|' || _position FROM u ORDER BY id"
        let before = try await storage.read { try String.fetchAll($0, sql: select) }
        var pace = Rebuild.Pace()
        // The rows are in the table before those events come in which they exchange what must be unique.
        for limit in [1, 41, Int.max] {
            for seeks in [true, false] {
                (pace.limit, pace.seeksNeeded) = (limit, seeks)
                let report = try await Rebuild(storage.engine, ["u"], pace: pace).run()
                #expect(report.rows == ["u": 40])
                #expect(try await storage.read { try String.fetchAll($0, sql: select) } == before, "\(limit) events")
            }
        }
        #expect(try await storage.verify().isSound)
    }
}

/// Counts across threads.
private final class Counter: Sendable {
    private let count = Mutex(0)
    var value: Int { count.withLock { $0 } }
    @discardableResult func increase() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}
