import Dispatch
import GRDB
import SchemaTestSupport
import StorageCore
import StorageHistory
import TestSupport
import Testing

@testable import StorageHistory
@testable import StorageLog

/// The fold that writes each row once, checked against the one that applies event by event.
@Suite struct NetWindowTests {
    @Test(
        "Windows of any size make the table that the events make one by one",
        arguments: TestSettings.seeds(6, from: 21_000))
    func windowsAndEventsAgree(seed: UInt64) async throws {
        let (engine, _) = try await NetDifferenceTests.history(seed)
        try await engine.withWriter { writer, _ in
            let head = Int(try LogReader(writer.database).head().position)
            var random = SplitMix64(seed: seed)
            var rows = 0
            for entity in writer.catalog.live where NetWindow.takes([entity]) {
                for (memory, mergeLimit) in [(1, 1 << 20), (1, 1), (2_000, 1 << 20), (1 << 20, 1 << 20)] {
                    let position = Int64(1 + random.below(head))
                    let byEvents = try Self.dump(of: entity, in: writer.database) {
                        try $0.applyEvents(through: position)
                    }
                    let byWindows = try Self.dump(of: entity, in: writer.database) {
                        try $0.applyWindows(through: position, memory: memory, mergeLimit: mergeLimit)
                    }
                    #expect(byWindows == byEvents, "seed \(seed), \(entity.name) @\(position), \(memory) bytes")
                    rows += byEvents.count
                }
            }
            #expect(rows > 0)
        }
        try await engine.close()
    }

    /// The log then has inserts of rows that are there.
    @Test(
        "Windows agree with events about rows that another program had deleted",
        arguments: TestSettings.seeds(4, from: 25_000))
    func foreignDeletes(seed: UInt64) async throws {
        let folder = try TemporaryFolder()
        // So long that sealing doesn't lock the other program out.
        let engine = try StorageEngine.open(
            path: folder.path(), configuration: TestStore.configuration(segmentLength: 1_024))
        try await engine.adopt(
            "t", "CREATE TABLE t(id INTEGER PRIMARY KEY, v, w, _position INTEGER NOT NULL DEFAULT 0)")
        let foreign = try DatabaseQueue.foreign(path: folder.path())
        var random = SplitMix64(seed: seed)
        for round in 0..<150 {
            let id = random.below(6)
            switch random.below(5) {
            case 0: try await foreign.write { try $0.execute(sql: "DELETE FROM t WHERE id = \(id)") }
            case 1: try await engine.commit("DELETE FROM t WHERE id = \(id)")
            case 2: try await engine.commit("UPDATE t SET v = \(round) WHERE id = \(id)")
            default: try await engine.commit("INSERT OR IGNORE INTO t(id, v, w) VALUES (\(id), \(round), 'w\(round)')")
            }
        }
        try foreign.close()
        try await engine.withWriter { writer, _ in
            let head = Int(try LogReader(writer.database).head().position)
            let entity = try #require(writer.catalog.entity(named: "t"))
            var random = SplitMix64(seed: seed)
            var replaced = 0
            let scratch = try ScratchTables()
            let fold = Fold(scratch.database, targets: [try scratch.target(for: entity)], checks: true)
            try LogReader(writer.database).forEachBatch(in: 1...Int64(head), where: fold.wants) { batch in
                try fold.apply(
                    batch, report: { Issue.record("seed \(seed): @\($0) \($1)") }, replaced: { _ in replaced += 1 })
                return true
            }
            #expect(replaced > 3)
            for (memory, mergeLimit) in [(1, 1 << 20), (1, 1), (500, 1 << 20), (1 << 20, 1 << 20)] {
                for position in [head, 1 + random.below(head)].map(Int64.init) {
                    let byEvents = try Self.dump(of: entity, in: writer.database) {
                        try $0.applyEvents(through: position)
                    }
                    let byWindows = try Self.dump(of: entity, in: writer.database) {
                        try $0.applyWindows(through: position, memory: memory, mergeLimit: mergeLimit)
                    }
                    #expect(byWindows == byEvents, "seed \(seed), @\(position), \(memory) bytes")
                }
            }
        }
        try await engine.close()
    }

    /// The log has several such keys, of which the table can have only one at a time.
    @Test(
        "Windows agree with events about keys that the table treats as equal",
        arguments: TestSettings.seeds(4, from: 27_000))
    func equalKeys(seed: UInt64) async throws {
        let others = "v, _position INTEGER NOT NULL DEFAULT 0)"
        let tables = [
            ("names", "(id TEXT PRIMARY KEY COLLATE NOCASE, \(others)", ["'work'", "'Work'", "'WORK'", "'a'", "'A'"]),
            ("numbers", "(id PRIMARY KEY, \(others)", ["1", "1.0", "2", "2.0", "'1'"]),
        ]
        let engine = try TestStore.inMemory()
        for (name, columns, _) in tables { try await engine.adopt(name, "CREATE TABLE \(name)\(columns)") }
        var random = SplitMix64(seed: seed)
        for round in 0..<200 {
            let (name, _, keys) = tables[random.below(tables.count)]
            let (one, other) = (keys[random.below(keys.count)], keys[random.below(keys.count)])
            switch random.below(5) {
            case 0: try await engine.commit("DELETE FROM \(name) WHERE id = \(one)")
            case 1: try await engine.commit("INSERT OR IGNORE INTO \(name)(id, v) VALUES (\(one), \(round))")
            default: try await engine.commit("UPDATE OR IGNORE \(name) SET id = \(other) WHERE id = \(one)")
            }
        }
        try await engine.withWriter { writer, _ in
            let head = Int(try LogReader(writer.database).head().position)
            var random = SplitMix64(seed: seed)
            for (name, columns, _) in tables {
                let entity = try #require(writer.catalog.entity(named: name))
                for (memory, mergeLimit) in [
                    (1, 1 << 20), (1, 1), (300, 1 << 20), (1_000, 1 << 20), (1 << 20, 1 << 20),
                ] {
                    for position in [head, 1 + random.below(head)].map(Int64.init) {
                        let byEvents = try Self.dump(of: entity, in: writer.database) {
                            try $0.applyEvents(through: position)
                        }
                        let byWindows = try Self.dump(of: entity, columns: columns, in: writer.database) {
                            try $0.applyWindows(through: position, memory: memory, mergeLimit: mergeLimit)
                        }
                        #expect(byWindows == byEvents, "seed \(seed), \(name) @\(position), \(memory) bytes")
                    }
                }
            }
        }
        try await engine.close()
    }

    @Test("Windows of keys of all types, with long texts, are merged", arguments: TestSettings.seeds(3, from: 29_000))
    func mixedKeys(seed: UInt64) async throws {
        let engine = try TestStore.inMemory(segmentLength: 64)
        try await engine.adopt(
            "t", "CREATE TABLE t(a, b, v TEXT, w, _position INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (a, b))")
        var random = SplitMix64(seed: seed)
        func key(_ random: inout SplitMix64) -> String {
            let number = random.below(40)
            return [
                "\(number - 20)", "\(number).5", "'\(number)'", "'prefix that is long \(number)'",
                "x'\(String(10 + number))'", "'\(String(repeating: "z", count: number))'",
            ][random.below(6)]
        }
        for round in 0..<60 {
            var changes: [String] = []
            for _ in 0..<30 {
                let (a, b) = (key(&random), key(&random))
                switch random.below(6) {
                case 0: changes.append("DELETE FROM t WHERE a = \(a)")
                case 1: changes.append("UPDATE t SET v = printf('%.*c', \(random.below(3_000)), 'v') WHERE a = \(a)")
                case 2: changes.append("UPDATE t SET w = \(round) WHERE b = \(b)")
                default: changes.append("INSERT OR IGNORE INTO t(a, b, v, w) VALUES (\(a), \(b), 'v\(round)', NULL)")
                }
            }
            try await engine.commit(changes.joined(separator: "; "))
        }
        try await engine.withWriter { writer, _ in
            let head = try LogReader(writer.database).head().position
            let entity = try #require(writer.catalog.entity(named: "t"))
            let byEvents = try Self.dump(of: entity, in: writer.database) { try $0.applyEvents(through: head) }
            #expect(byEvents.count > 100)
            for (memory, mergeLimit) in [(1, 1 << 20), (1, 3_000), (20_000, 1), (200_000, 1 << 20)] {
                let byWindows = try Self.dump(of: entity, in: writer.database) {
                    try $0.applyWindows(through: head, memory: memory, mergeLimit: mergeLimit)
                }
                #expect(byWindows == byEvents, "seed \(seed), \(memory) bytes, merged in \(mergeLimit)")
            }
        }
        try await engine.close()
    }

    /// The next event points back to an earlier one than the row's last.
    @Test("A row that another program has restored with its earlier position has the values of all events")
    func restoredRow() async throws {
        let folder = try TemporaryFolder()
        let engine = try StorageEngine.open(
            path: folder.path(), configuration: TestStore.configuration(segmentLength: 8))
        try await engine.adopt(
            "t", "CREATE TABLE t(id INTEGER PRIMARY KEY, v, w, _position INTEGER NOT NULL DEFAULT 0)")
        try await engine.commit("INSERT INTO t(id, v, w) VALUES (1, 'a', 'b')")
        try await engine.commit("INSERT INTO t(id, v, w) VALUES (-1, 'e', 'f')")
        let inserted = try #require(try await engine.integer("SELECT _position FROM t WHERE id = 1"))
        let insertedFirst = try #require(try await engine.integer("SELECT _position FROM t WHERE id = -1"))
        try await engine.commit("DELETE FROM t WHERE id = -1")
        for id in 2..<30 { try await engine.commit("INSERT INTO t(id, v) VALUES (\(id), \(id))") }
        try await engine.commit("UPDATE t SET v = 'c' WHERE id = 1")
        try await engine.commit("INSERT INTO t(id, v) VALUES (-1, 'g')")
        let foreign = try DatabaseQueue.foreign(path: folder.path())
        try await foreign.write { db in
            try db.execute(sql: "INSERT OR REPLACE INTO t VALUES (1, 'a', 'b', ?)", arguments: [inserted])
            try db.execute(sql: "UPDATE t SET _position = ? WHERE id = -1", arguments: [insertedFirst])
        }
        try foreign.close()
        try await engine.commit("UPDATE t SET w = 'd' WHERE id = 1")
        try await engine.commit("DELETE FROM t WHERE id = -1")
        for id in 30..<60 { try await engine.commit("INSERT INTO t(id, v) VALUES (\(id), \(id))") }
        try await engine.withWriter { writer, _ in
            let head = try LogReader(writer.database).head().position
            let entity = try #require(writer.catalog.entity(named: "t"))
            let byEvents = try Self.dump(of: entity, in: writer.database) { try $0.applyEvents(through: head) }
            for memory in [1, 200, 500, 1_000, 2_000, 1 << 20] {
                let byWindows = try Self.dump(of: entity, in: writer.database) {
                    try $0.applyWindows(through: head, memory: memory)
                }
                #expect(byWindows == byEvents, "\(memory) bytes")
            }
        }
        try await engine.close()
    }

    /// The events of the two then alternate in the log, and are found by their back-links as those of two rows.
    @Test("A row that another program has restored after it was inserted again has the values of all events")
    func restoredRowAfterInsert() async throws {
        let folder = try TemporaryFolder()
        let engine = try StorageEngine.open(
            path: folder.path(), configuration: TestStore.configuration(segmentLength: 1_024))
        try await engine.adopt(
            "t", "CREATE TABLE t(id INTEGER PRIMARY KEY, v, w, _position INTEGER NOT NULL DEFAULT 0)")
        try await engine.commit("INSERT INTO t(id, v, w) VALUES (1, 'a', 'b'), (2, 'a', 'b')")
        let inserted = try #require(try await engine.integer("SELECT _position FROM t WHERE id = 1"))
        let foreign = try DatabaseQueue.foreign(path: folder.path())
        try await foreign.write { try $0.execute(sql: "DELETE FROM t WHERE id = 1") }
        try await engine.commit("INSERT INTO t(id, v, w) VALUES (1, 'c', 'd')")
        try await foreign.write {
            try $0.execute(sql: "INSERT OR REPLACE INTO t VALUES (1, 'a', 'b', ?)", arguments: [inserted])
        }
        try foreign.close()
        try await engine.commit("UPDATE t SET w = 'e' WHERE id = 1")
        for id in 3..<30 { try await engine.commit("INSERT INTO t(id, v) VALUES (\(id), \(id))") }
        try await engine.withWriter { writer, _ in
            let head = try LogReader(writer.database).head().position
            let entity = try #require(writer.catalog.entity(named: "t"))
            let byEvents = try Self.dump(of: entity, in: writer.database) { try $0.applyEvents(through: head) }
            for memory in [1, 500, 1 << 20] {
                let byWindows = try Self.dump(of: entity, in: writer.database) {
                    try $0.applyWindows(through: head, memory: memory)
                }
                #expect(byWindows == byEvents, "\(memory) bytes")
            }
        }
        try await engine.close()
    }

    /// No statement of the store runs then that could be interrupted.
    @Test("Merging ends when the task is cancelled")
    func cancelledMerging() async throws {
        let engine = try TestStore.inMemory(segmentLength: 64)
        try await engine.adopt("t", "CREATE TABLE t(id INTEGER PRIMARY KEY, _position INTEGER NOT NULL DEFAULT 0)")
        try await engine.commit(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
            INSERT INTO t(id) SELECT i FROM n
            """)
        let (written, cancelled) = (Counter(), DispatchSemaphore(value: 0))
        let (begun, continuation) = AsyncStream.makeStream(of: Void.self)
        let waiting = DatabaseFunction("wait", argumentCount: 0) { _ in
            if written.add() == 1 {
                continuation.finish()
                cancelled.wait()
            }
            return nil
        }
        let task = Task {
            defer { continuation.finish() }
            try await engine.read { db in
                let source = try db.connection
                let entity = try #require(try Catalog.load(source).entity(named: "t"))
                let head = try LogReader(source).head().position
                try DatabaseQueue().inDatabase { db in
                    db.add(function: waiting)
                    try db.execute(sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, _position INTEGER)")
                    try db.execute(sql: "CREATE TRIGGER written AFTER INSERT ON t BEGIN SELECT wait(); END")
                    let target = Fold.Target(entity: entity, table: "t", column: \.stored, tombstones: nil)
                    let replay = TableReplay(target: target, database: try db.connection, source: source)
                    try replay.applyWindows(through: head, memory: 1)
                }
            }
        }
        for await _ in begun {}
        task.cancel()
        cancelled.signal()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect((1..<500).contains(written.value))
        try await engine.close()
    }

    /// The table and the tombstones that `fill` leaves.
    ///
    /// - Parameter columns: Those of a table that compares keys as the store's own does.
    private static func dump(
        of entity: CatalogEntity, columns definition: String? = nil, in source: Connection,
        _ fill: (TableReplay) throws -> Void
    ) throws -> [[StorageValue]] {
        let scratch = try ScratchTables()
        var target = try scratch.target(for: entity)
        if let definition {
            try PreparedStatement(scratch.database, "CREATE TABLE strict\(definition)").execute()
            target = Fold.Target(
                entity: entity, table: "strict", column: { quoted($0.stored) }, tombstones: target.tombstones)
        }
        try fill(TableReplay(target: target, database: scratch.database, source: source))
        let columns = entity.live.map(target.column) + ["_position"]
        let keys = entity.key.map { "\(target.column($0)) COLLATE BINARY" }.joined(separator: ", ")
        let list = columns.joined(separator: ", ")
        return try rows(
            "SELECT \(list) FROM \(target.table) ORDER BY \(keys)", count: columns.count, in: scratch.database)
            + rows("SELECT key, position FROM tombstone ORDER BY key", count: 2, in: scratch.database)
    }

    private static func rows(_ sql: String, count: Int, in database: Connection) throws -> [[StorageValue]] {
        let select = try PreparedStatement(database, sql)
        var rows: [[StorageValue]] = []
        while try select.step() { rows.append((0..<count).map { select.row.value(at: Int32($0)) }) }
        return rows
    }
}
