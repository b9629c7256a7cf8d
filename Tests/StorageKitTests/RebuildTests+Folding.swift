import EntityTestSupport
import Foundation
import StorageKit
import StorageTesting
import TestSupport
import Testing

/// What a rebuild makes of many versions of a row.
extension RebuildTests {
    /// Values of every kind and size come in the place of others, also where so many do that their memory has to be tidied up.
    @Test("Values of every kind replace each other", arguments: 0..<max(2, Int(2 * testScale)))
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
        for (memory, seeks, sorts) in [
            (20_000, true, false), (100_000, false, false), (100_000, true, false), (3 << 20, true, false),
            (1, true, true), (20_000, true, true),
        ] {
            var pace = Rebuild.Pace()
            (pace.memory, pace.seeksNeeded, pace.sorts) = (memory, seeks, sorts)
            let report = try await Rebuild(store.storage.engine, pace: pace).run()
            #expect(report.rows == ["things": before.count])
            #expect(try await rows() == before, "seed \(seed), memory \(memory)")
        }
        #expect(try await store.storage.verify().isSound)
    }

    /// A window that is put together gives the same tables and tombstones as its events one by one, wherever it ends.
    @Test("Folded ranges equal replaying event by event", arguments: testSeeds(1))
    func foldedRangesEqualReplay(seed: UInt64) async throws {
        let store = try TemporaryStore { $0.autoSchema(NoteRecord.self, PersonRecord.self) }
        var random = SplitMix64(seed: seed)
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
        pace = Rebuild.Pace()
        pace.sorts = true
        for (memory, most) in [(1, .max), (3_000, .max), (2 << 20, .max), (3_000, 200)] as [(Int, Int64)] {
            (pace.memory, pace.mostSortedEvents) = (memory, most)
            _ = try await Rebuild(store.storage.engine, pace: pace).run()
            #expect(try await dump(store.storage) == before, "seed \(seed), \(pace)")
        }
        #expect(try await store.storage.verify().isSound)
    }

    /// Rows that were written before it was cancelled belong to no position, so they aren't kept.
    @Test("A rebuild that is cancelled while it writes sorted rows starts over", arguments: testSeeds(4))
    func cancelledSortedRebuild(seed: UInt64) async throws {
        let store = try TemporaryStore { $0.autoSchema(NoteRecord.self, PersonRecord.self) }
        let storage = store.storage
        for version in 0..<4 {
            try await storage.save((0..<200).map { Note(id: $0, text: "version \(version)") })
            try await storage.write { try $0.execute("DELETE FROM notes WHERE id % 7 = \(version)") }
        }
        var random = SplitMix64(seed: seed)
        var pace = Rebuild.Pace()
        // With that many versions a row, long logs are sorted by default.
        (pace.leastSortedEvents, pace.memory) = (1, 2_000)
        let steps = Counter()
        _ = try await Rebuild(storage.engine, pace: pace) { _ in steps.add() }.run()
        let last = steps.value + Int.random(in: 1..<steps.value, using: &random)
        let rebuilding = Task { [pace] in
            try await Rebuild(storage.engine, pace: pace) { _ in
                if steps.add() == last { withUnsafeCurrentTask { $0?.cancel() } }
            }.run()
        }
        await #expect(throws: CancellationError.self) { try await rebuilding.value }
        try await storage.save(Note(id: 3, text: "between"))
        // The schema has the unfinished tables, too.
        let after = try await dump(storage).filter { !$0.hasPrefix("CREATE") }
        pace.sorts = seed % 2 == 0
        let report = try await Rebuild(storage.engine, pace: pace).run()
        #expect(report.resumedAt == 0)
        #expect(try await dump(storage).filter { !$0.hasPrefix("CREATE") } == after, "seed \(seed)")
        #expect(try await storage.verify().isSound)
    }

    @Test("Rebuilds that are started at the same time come one after the other")
    func simultaneousRebuilds() async throws {
        let store = try TemporaryStore { $0.autoSchema(NoteRecord.self, PersonRecord.self) }
        let storage = store.storage
        for version in 0..<4 { try await storage.save((0..<200).map { Note(id: $0, text: "version \(version)") }) }
        let before = try await dump(storage)
        var pace = Rebuild.Pace()
        (pace.sorts, pace.memory) = (true, 2_000)
        try await withThrowingTaskGroup(of: RebuildReport.self) { [pace] group in
            for names in [["notes"], ["persons"], ["notes"], []] {
                group.addTask { try await Rebuild(storage.engine, names, pace: pace).run() }
            }
            for try await report in group {
                #expect(report.isSwapped)
                #expect(report.resumedAt == 0)
            }
        }
        #expect(try await dump(storage) == before)
        #expect(try await storage.verify().isSound)
    }

    /// A rebuild that leaves out what isn't needed can be gone on with from wherever it stopped, in whatever way, also when more
    /// has been committed by then.
    @Test("Events that were skipped can be applied afterwards", arguments: testSeeds(6))
    func skippedEventsComeLater(seed: UInt64) async throws {
        let store = try TemporaryStore { schema in
            schema.migration("things") { try $0.execute(sql: "CREATE TABLE things(id INTEGER PRIMARY KEY, a, b, c)") }
            schema.adopt("things")
        }
        let storage = store.storage
        var random = SplitMix64(seed: seed)
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
                if steps.add() == last { withUnsafeCurrentTask { $0?.cancel() } }
            }.run()
        }
        await #expect(throws: CancellationError.self) { try await rebuilding.value }
        try await change(Int(seed % 2) * 40)
        let before = try await rows()
        (pace.collects, pace.seeksNeeded) = (seed % 3 > 0, seed % 4 > 1)
        let report = try await Rebuild(storage.engine, pace: pace).run()
        #expect(report.resumedAt > 0)
        #expect(try await rows() == before, "seed \(seed)")
        #expect(try await storage.verify().isSound)
    }

    /// Where windows bring the same rows again and again, it is found out by itself which events are needed: the rows are
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
            // A window holds far fewer rows than there are, also where it may be five times as long.
            (pace.memory, pace.seeksNeeded, pace.gap) = (20_000, seeks, 100)
            let count = Counter()
            _ = try await Rebuild(storage.engine, ["notes"], pace: pace) { _ in count.add() }.run()
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

    /// While it is rebuilt beside the old one, the table has another name.
    @Test("A table whose CHECK contains its name is rebuilt, and recreated if it was dropped")
    func checkWithNameOfTable() async throws {
        let store = try TemporaryStore { schema in
            schema.migration("spans") { db in
                try db.execute(
                    sql: "CREATE TABLE spans(id INTEGER PRIMARY KEY, low, high, CHECK (spans.low < spans.high))")
            }
            schema.adopt("spans")
        }
        try await store.storage.write { tx in
            try tx.execute("INSERT INTO spans(id, low, high) VALUES (1, 1, 2), (2, 1, 2), (3, 1, 2)")
            try tx.execute("UPDATE spans SET high = 5 WHERE id = 2; DELETE FROM spans WHERE id = 3")
        }
        let select = "SELECT id || '|' || low || '|' || high || '|' || _position FROM spans ORDER BY id"
        let before = try await store.storage.read { try String.fetchAll($0, sql: select) }
        _ = try await store.storage.rebuild()
        #expect(try await store.storage.read { try String.fetchAll($0, sql: select) } == before)
        try await store.storage.close()
        let foreign = try store.otherProgram()
        try await foreign.write { try $0.execute(sql: "DROP TABLE spans") }
        try foreign.close()
        try await store.reopen()
        #expect(try await store.storage.read { try String.fetchAll($0, sql: select) } == before)
        let verified = try await store.storage.verify()
        #expect(verified.isSound, "\(verified.findings)")
        let error = await #expect(throws: StorageError.self) {
            try await store.storage.write { try $0.execute("INSERT INTO spans(id, low, high) VALUES (4, 2, 1)") }
        }
        #expect(error?.code == .conflict)
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
        // The first window ends where the exchanges have begun, so that those rows are in the table already.
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
