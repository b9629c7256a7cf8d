import CSQLite
import Foundation
import GRDB
import SchemaTestSupport
import StorageCore
import TestSupport
import Testing

@testable import StorageLog

/// What the engine takes for granted of SQLite and GRDB. A new version of either that breaks one of these facts breaks
/// a promise of ours.
@Suite struct EngineContractTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func open(_ change: (inout StorageConfig) -> Void = { _ in }) throws -> StorageEngine {
        var configuration = TestStore.configuration()
        change(&configuration)
        return try .open(path: folder.path(), configuration: configuration)
    }

    @Test("Durability is set", arguments: [(StorageConfig.Durability.full, Int64(2)), (.normal, 1)])
    func durabilityIsSet(durability: StorageConfig.Durability, level: Int64) async throws {
        let engine = try open { $0.durability = durability }
        #expect(try await engine.integer("PRAGMA synchronous") == level)
        try await engine.commit("CREATE TABLE x(y)")
        #expect(try await engine.integer("PRAGMA synchronous") == level)
        try await engine.close()
    }

    @Test("The writer has its settings")
    func writerSettings() async throws {
        let engine = try open { $0.busyTimeout = .milliseconds(3_250) }
        #expect(try await engine.integer("PRAGMA foreign_keys") == 1)
        #expect(try await engine.integer("PRAGMA busy_timeout") == 3_250)
        #expect(try await engine.integer("PRAGMA secure_delete") == 0)
        #expect(try await engine.integer("PRAGMA journal_size_limit") == 64 << 20)
        let mode = try await engine.withWriter { _, db in try String.fetchOne(db, sql: "PRAGMA journal_mode") }
        #expect(mode == "wal")
        try await engine.close()
    }

    @Test(
        "Any duration is a timeout",
        arguments: [
            (Duration.seconds(30 * 86_400), 2_147_483_000), (.seconds(Int64.max), 2_147_483_000), (.seconds(-1), 0),
            (.seconds(Int64.min), 0),
        ] as [(Duration, Int64)])
    func extremeTimeouts(timeout: Duration, milliseconds: Int64) async throws {
        let engine = try open { $0.busyTimeout = timeout }
        #expect(try await engine.integer("PRAGMA busy_timeout") == milliseconds)
        try await engine.close()
    }

    @Test("Readers can't write")
    func readersCannotWrite() async throws {
        let engine = try open()
        try await engine.commit("CREATE TABLE x(y)")
        #expect(await code { try await engine.read { try $0.execute(sql: "INSERT INTO x VALUES (1)") } } == .readOnly)
        try await engine.close()
        let reader = try open { $0.isReadOnly = true }
        #expect(await code { try await reader.commit("INSERT INTO x VALUES (1)") } == .readOnly)
        #expect(await code { try await reader.read { try $0.execute(sql: "INSERT INTO x VALUES (1)") } } == .readOnly)
        try await reader.close()
    }

    /// A reader that closes last must leave the write-ahead log alone.
    @Test("A reader doesn't checkpoint on close")
    func readerDoesNotCheckpoint() async throws {
        // Nothing may be written while the files are copied.
        let engine = try open { $0.sealsInBackground = false }
        try await engine.adopt("t", "CREATE TABLE t(id INTEGER PRIMARY KEY, _position INTEGER NOT NULL DEFAULT 0)")
        let copy = try TemporaryFolder()
        // The files as a crash would leave them: the changes are in the write-ahead log only.
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: folder.path() + suffix, toPath: copy.path() + suffix)
        }
        try await engine.close()
        let before = try Data(contentsOf: URL(fileURLWithPath: copy.path()))
        var configuration = TestStore.configuration()
        configuration.isReadOnly = true
        let reader = try StorageEngine.open(path: copy.path(), configuration: configuration)
        #expect(try await reader.read { try Int.fetchOne($0, sql: "SELECT max(last) FROM storage_log") } == 2)
        try await reader.close()
        #expect(try Data(contentsOf: URL(fileURLWithPath: copy.path())) == before)
        #expect(try FileManager.default.attributesOfItem(atPath: copy.path() + "-wal")[.size] as? Int != 0)
    }

    /// The writer's end needs its connection, which nobody closes here but the end of the engine itself. That what is freed
    /// isn't used shows where freed memory is overwritten, as `Tools/test` has it.
    @Test("A store may be dropped without being closed", arguments: [false, true])
    func droppingWithoutClosing(inMemory: Bool) async throws {
        for round in 0..<20 {
            let engine =
                inMemory
                ? try TestStore.inMemory()
                : try StorageEngine.open(
                    path: folder.path("\(round).sqlite"), configuration: TestStore.configuration())
            try await engine.commit("CREATE TABLE x(y); INSERT INTO x VALUES (\(round))")
            #expect(try await engine.integer("SELECT y FROM x") == Int64(round))
        }
    }

    @Test("The hook sees cascades, replacements and whole tables")
    func hookSeesCascadesAndReplacements() async throws {
        let engine = try open()
        _ = try await engine.commit(CommitMetadata()) { writer, db in
            try writer.adopt(
                db, "p", "CREATE TABLE p(id INTEGER PRIMARY KEY, u UNIQUE, _position INTEGER NOT NULL DEFAULT 0)")
            try writer.adopt(
                db, "c",
                "CREATE TABLE c(id INTEGER PRIMARY KEY, p REFERENCES p(id) ON DELETE CASCADE, _position INTEGER NOT NULL DEFAULT 0)"
            )
        }
        try await engine.commit(
            "INSERT INTO p(id, u) VALUES (1, 'a'), (2, 'b'); INSERT INTO c(id, p) VALUES (10, 1), (11, 1), (12, 2)")
        #expect(try await engine.commit("DELETE FROM p WHERE id = 1").eventCount == 3)
        // The row that is replaced goes, the new one comes, and the foreign key takes the child along.
        #expect(try await engine.commit("INSERT OR REPLACE INTO p(id, u) VALUES (3, 'b')").eventCount == 3)
        try await engine.commit("INSERT INTO p(id) VALUES (4), (5), (6)")
        // Without a hook, SQLite empties a table without looking at its rows.
        #expect(try await engine.commit("DELETE FROM p").eventCount == 4)
        try await engine.close()
    }

    @Test("The sentinel notices statements that are undone")
    func sentinelSeesUndoneStatements() async throws {
        let engine = try open()
        try await engine.adopt(
            "t", "CREATE TABLE t(id INTEGER PRIMARY KEY, v CHECK (v < 3), _position INTEGER NOT NULL DEFAULT 0)")
        let receipt = try await engine.commit(CommitMetadata()) { writer, db in
            try db.execute(sql: "INSERT INTO t(id, v) VALUES (1, 1)")
            #expect(throws: (any Error).self) {
                try db.execute(sql: "INSERT INTO t(id, v) VALUES (2, 1), (3, 2), (4, 3)")
            }
            #expect(storage_capture_count(writer.capture) == 1)
            #expect(throws: (any Error).self) {
                try db.execute(sql: "INSERT OR FAIL INTO t(id, v) VALUES (5, 1), (6, 3)")
            }
            #expect(storage_capture_count(writer.capture) == 2)
            #expect(throws: (any Error).self) { try db.execute(sql: "UPDATE t SET v = id - 3 + v") }
            #expect(storage_capture_count(writer.capture) == 2)
        }
        #expect(receipt.eventCount == 2)
        try await engine.close()
    }

    /// Rows from before ADD COLUMN are too short to hold the column; the hook must be able to tell that from NULL.
    @Test("An absent column isn't NULL")
    func absentColumn() async throws {
        let engine = try TestStore.inMemory()
        _ = try await engine.withWriter { writer, db in
            try db.execute(
                sql:
                    "CREATE TABLE short(a); INSERT INTO short VALUES (1); ALTER TABLE short ADD COLUMN b; INSERT INTO short VALUES (2, NULL)"
            )
            let absent = try PreparedStatement(writer.database, "SELECT 1")
            try absent.step()
            let address = sqlite3_column_value(absent.pointer, 1)
            #expect(sqlite3_column_value(absent.pointer, 9) == address)
            // The hook of the capture is replaced; this store isn't used for anything else.
            var context = (address: address, seen: [Bool]())
            withUnsafeMutablePointer(to: &context) { pointer in
                sqlite3_preupdate_hook(
                    writer.database.handle,
                    { context, database, _, _, _, _, _ in
                        var value: OpaquePointer?
                        sqlite3_preupdate_old(database, 1, &value)
                        let context = context!.assumingMemoryBound(to: (address: OpaquePointer?, seen: [Bool]).self)
                        context.pointee.seen.append(value == context.pointee.address)
                    }, pointer)
                sqlite3_exec(writer.database.handle, "DELETE FROM short", nil, nil, nil)
                sqlite3_preupdate_hook(writer.database.handle, nil, nil)
            }
            #expect(context.seen == [true, false])
            return 0
        }
    }

    @Test("REAL affinity loses the sign of zero")
    func realAffinityAndNegativeZero() async throws {
        let engine = try TestStore.inMemory()
        let bits = try await engine.withWriter { _, db in
            try db.execute(sql: "CREATE TABLE z(r REAL, n)")
            try db.execute(sql: "INSERT INTO z VALUES (?, ?)", arguments: [-0.0, -0.0])
            return try Row.fetchOne(db, sql: "SELECT r, n FROM z").map {
                [($0["r"] as Double).sign, ($0["n"] as Double).sign]
            }
        }
        #expect(bits == [.plus, .minus])
    }

    @Test("The trace sees every statement that changes the schema")
    func traceSeesSchemaChanges() async throws {
        let engine = try TestStore.inMemory()
        _ = try await engine.withWriter { writer, db in
            storage_capture_take_schema_suspicion(writer.capture)
            for sql in [
                "CREATE TABLE a(x)", "  -- why\n/* and */ alter TABLE a ADD COLUMN y", "CREATE INDEX i ON a(x)",
                "ALTER TABLE a RENAME TO b", "DROP INDEX i", ";drop table b", "CREATE TEMP TABLE t(x)",
            ] {
                try db.execute(sql: sql)
                #expect(storage_capture_take_schema_suspicion(writer.capture) == 1, "\(sql)")
            }
            try db.execute(sql: "INSERT INTO temp.t VALUES (1)")
            #expect(storage_capture_take_schema_suspicion(writer.capture) == 0)
            return 0
        }
    }

    @Test("The schema version moves with the schema")
    func schemaVersion() async throws {
        let engine = try TestStore.inMemory()
        var versions: [Int64?] = []
        for sql in [
            "CREATE TABLE a(x)", "ALTER TABLE a ADD COLUMN y", "ALTER TABLE a RENAME COLUMN y TO z",
            "ALTER TABLE a DROP COLUMN z",
            "ALTER TABLE a RENAME TO b", "CREATE TRIGGER t AFTER INSERT ON b BEGIN SELECT 1; END", "DROP TABLE b",
        ] {
            try await engine.commit(sql)
            versions.append(try await engine.integer("PRAGMA schema_version"))
        }
        #expect(versions == versions.compactMap { $0 }.sorted())
        #expect(Set(versions).count == versions.count)
    }

    /// The reason why positions are allocated by hand.
    @Test("Ignored inserts use up AUTOINCREMENT values")
    func autoincrementGaps() async throws {
        let engine = try TestStore.inMemory()
        let next = try await engine.withWriter { _, db in
            try db.execute(sql: "CREATE TABLE a(id INTEGER PRIMARY KEY AUTOINCREMENT, k UNIQUE)")
            try db.execute(sql: "INSERT INTO a(k) VALUES (1)")
            for _ in 0..<3 { try db.execute(sql: "INSERT OR IGNORE INTO a(k) VALUES (1), (2)") }
            try db.execute(sql: "INSERT INTO a(k) VALUES (3)")
            return try Int64.fetchOne(db, sql: "SELECT max(id) FROM a")
        }
        #expect((next ?? 0) > 3)
    }

    @Test("The log is guarded against everybody else")
    func logIsGuarded() async throws {
        let engine = try open()
        try await engine.adopt("t", "CREATE TABLE t(id INTEGER PRIMARY KEY, _position INTEGER NOT NULL DEFAULT 0)")
        for sql in [
            "DELETE FROM storage_log", "UPDATE storage_log SET last = 9",
            "INSERT INTO storage_log SELECT 9, 9, 9, 9, 9, 9, x'', 1, 0, 1, x''",
        ] {
            #expect(await code { try await engine.commit(sql) } != nil, "\(sql)")
        }
        try await engine.close()
        var foreign: OpaquePointer?
        defer { sqlite3_close(foreign) }
        #expect(sqlite3_open(folder.path(), &foreign) == SQLITE_OK)
        #expect(sqlite3_exec(foreign, "DELETE FROM storage_log", nil, nil, nil) != SQLITE_OK)
        #expect(sqlite3_exec(foreign, "SELECT count(*) FROM storage_log", nil, nil, nil) == SQLITE_OK)
    }

    @Test("A position that was moved is put back")
    func movedPosition() async throws {
        let engine = try open()
        try await engine.adopt("t", "CREATE TABLE t(id INTEGER PRIMARY KEY, v, _position INTEGER NOT NULL DEFAULT 0)")
        try await engine.commit("INSERT INTO t(id, v, _position) VALUES (1, 1, 99), (2, 2, -5)")
        try await engine.commit(
            "UPDATE t SET _position = 77; UPDATE t SET v = 3, _position = 12 WHERE id = 1; UPDATE t SET _position = 1")
        try await engine.commit("UPDATE t SET _position = 5")
        let faults = try await engine.withWriter { writer, _ in
            var oracle = LogOracle()
            return try oracle.apply(LogReader(writer.database).events())
                + oracle.differences(writer.dump(), writer.catalog)
        }
        #expect(faults == [])
        try await engine.close()
    }
}
