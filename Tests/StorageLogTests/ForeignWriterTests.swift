import Foundation
import GRDB
import StorageCore
import TestSupport
import Testing

@testable import StorageLog

/// What another program has written into a store's tables between two openings never makes a log that can't be read.
@Suite struct ForeignWriterTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func open(segmentLength: Int? = nil) throws -> StorageEngine {
        try .open(path: folder.path(), configuration: TestStore.configuration(segmentLength: segmentLength))
    }

    /// A store with rows 1 to 3, of which 3 is deleted, and what another program has done to it.
    private func opened(after sql: String) async throws -> StorageEngine {
        let engine = try open()
        try await engine.adopt("t", "CREATE TABLE t(id INTEGER PRIMARY KEY, v, _position INTEGER NOT NULL DEFAULT 0)")
        try await engine.commit("INSERT INTO t(id, v) VALUES (1, 'one'), (2, 'two'), (3, 'three')")
        try await engine.commit("DELETE FROM t WHERE id = 3")
        try await engine.close()
        let queue = try DatabaseQueue.foreign(path: folder.path())
        try await queue.write { db in
            db.add(function: DatabaseFunction("storage_engine", argumentCount: 0) { _ in 1 })
            try db.execute(sql: sql)
        }
        try queue.close()
        return try open()
    }

    /// What is wrong between the log and the tables, where it can be read.
    private func faults(_ engine: StorageEngine) async throws -> [String] {
        try await engine.withWriter { writer, _ in
            var oracle = LogOracle()
            return oracle.apply(try LogReader(writer.database).events())
        }
    }

    private static let positions = ["-9223372036854775808", "-5", "0", "'x'", "1 << 61", "9223372036854775807"]

    @Test(
        "A row whose position isn't in the log is refused", arguments: positions,
        ["UPDATE t SET v = 'new' WHERE id = 1", "DELETE FROM t WHERE id = 1"])
    func changedPositionOfRow(position: String, sql: String) async throws {
        let engine = try await opened(after: "UPDATE t SET _position = \(position) WHERE id = 1")
        let head = engine.committed
        let error = await #expect(throws: StorageError.self) { try await engine.commit(sql) }
        #expect(error?.code == .corrupt)
        #expect(error?.message.contains("\"t\"") == true)
        #expect(engine.committed == head)
        // It is one row's affair.
        try await engine.commit("UPDATE t SET v = 'new' WHERE id = 2; INSERT INTO t(id) VALUES (3), (4)")
        #expect(try await faults(engine) == [])
        try await engine.close()
    }

    @Test("A deleted row whose position isn't in the log is refused", arguments: positions)
    func changedPositionOfTombstone(position: String) async throws {
        let engine = try await opened(after: "UPDATE storage_tombstone SET position = \(position)")
        let head = engine.committed
        #expect(await code { try await engine.commit("INSERT INTO t(id) VALUES (3)") } == .corrupt)
        #expect(engine.committed == head)
        try await engine.commit("INSERT INTO t(id) VALUES (4)")
        #expect(try await faults(engine) == [])
        try await engine.close()
    }

    @Test(
        "A row that the log doesn't have is refused",
        arguments: ["UPDATE t SET v = 'new' WHERE id = 9", "DELETE FROM t WHERE id = 9"])
    func rowUnknownToLog(sql: String) async throws {
        let engine = try await opened(after: "INSERT INTO t(id, v) VALUES (9, 'stray')")
        #expect(await code { try await engine.commit(sql) } == .corrupt)
        try await engine.commit("UPDATE t SET v = 'new' WHERE id = 2")
        #expect(try await faults(engine) == [])
        try await engine.close()
    }

    @Test(
        "A row with the position of another row's event is refused, if a program has put it there beside the open store",
        arguments: [
            ("UPDATE t SET id = 9 WHERE id = 1", 9),
            ("INSERT INTO t SELECT id + 8, v, _position FROM t WHERE id = 1", 9),
            ("UPDATE t SET id = -1 WHERE id = 1; UPDATE t SET id = 1 WHERE id = 2", 1),
        ], [false, true])
    func positionOfOtherRow(change: (String, Int), seals: Bool) async throws {
        let (foreign, row) = change
        let engine = try await opened(after: "SELECT 1")
        if seals { try await engine.seal() }
        let queue = try DatabaseQueue.foreign(path: folder.path())
        try await queue.write { try $0.execute(sql: foreign) }
        try queue.close()
        let head = engine.committed
        let condition = "WHERE id = \(row)"
        let changes = ["UPDATE t SET v = 'new' \(condition)", "DELETE FROM t \(condition)", "UPDATE t SET v = 'all'"]
        for sql in changes {
            #expect(await code { try await engine.commit(sql) } == .corrupt, "\(sql)")
        }
        #expect(engine.committed == head)
        // Other rows are changed, once and again, in one commit and in several.
        try await engine.commit("INSERT INTO t(id, v) VALUES (3, 'x'); UPDATE t SET v = 'y' WHERE id = 3")
        try await engine.commit("UPDATE t SET v = 'z' WHERE id = 3; DELETE FROM t WHERE id = 3")
        try await engine.commit("INSERT INTO t(id) VALUES (3)")
        #expect(try await faults(engine) == [])
        try await engine.close()
    }

    @Test(
        "A table that lacks a column is refused",
        arguments: ["RENAME COLUMN v TO w", "RENAME COLUMN id TO key", "DROP COLUMN v", "DROP COLUMN _position"])
    func missingColumn(change: String) async throws {
        let engine = try await opened(after: "ALTER TABLE t \(change)")
        let head = engine.committed
        for sql in ["INSERT INTO t DEFAULT VALUES", "DELETE FROM t", "UPDATE t SET rowid = rowid + 10"] {
            #expect(await code { try await engine.commit(sql) } == .corrupt, "\(sql)")
        }
        #expect(engine.committed == head)
        try await engine.adopt("u", "CREATE TABLE u(id INTEGER PRIMARY KEY, _position INTEGER NOT NULL DEFAULT 0)")
        try await engine.commit("INSERT INTO u(id) VALUES (1)")
        #expect(try await faults(engine) == [])
        try await engine.close()
    }

    @Test(
        "A table with another primary key is refused",
        arguments: ["id INTEGER, v", "id INTEGER UNIQUE, v", "id INTEGER, v TEXT PRIMARY KEY"], ["", ", UNIQUE (v)"])
    func otherPrimaryKey(columns: String, constraint: String) async throws {
        let engine = try await opened(
            after: """
                CREATE TABLE n(\(columns), _position INTEGER NOT NULL DEFAULT 0\(constraint));
                INSERT INTO n SELECT id, v, _position FROM t; DROP TABLE t; ALTER TABLE n RENAME TO t
                """)
        let head = engine.committed
        for sql in ["INSERT INTO t(id, v) VALUES (9, 'x')", "UPDATE t SET v = 'new' WHERE id = 1", "DELETE FROM t"] {
            #expect(await code { try await engine.commit(sql) } == .corrupt, "\(sql)")
        }
        #expect(engine.committed == head)
        #expect(try await faults(engine) == [])
        try await engine.close()
    }

    @Test("An added column isn't taken for the position", arguments: ["", "; UPDATE t SET balance = -1"])
    func addedColumnIsNoPosition(values: String) async throws {
        let engine = try await opened(after: "ALTER TABLE t ADD COLUMN balance INTEGER\(values)")
        try await engine.commit(
            "UPDATE t SET v = 'new', balance = 7 WHERE id = 1; INSERT INTO t(id, balance) VALUES (3, 5)")
        try await engine.commit("UPDATE t SET balance = 9; DELETE FROM t WHERE id = 2")
        #expect(try await faults(engine) == [])
        #expect(try await engine.integer("SELECT _position FROM t WHERE id = 1") == engine.committed.position - 2)
        try await engine.close()
    }

    @Test("Back-links don't follow an added column named as the rowid", arguments: ["rowid", "_ROWID_", "oid"])
    func addedColumnIsNoRowid(name: String) async throws {
        let engine = try await opened(after: "ALTER TABLE t ADD COLUMN \(name) INTEGER; UPDATE t SET \(name) = 3 - id")
        for value in ["new", "newer"] { try await engine.commit("UPDATE t SET v = '\(value)' WHERE id = 1") }
        #expect(try await faults(engine) == [])
        #expect(try await engine.integer("SELECT _position FROM t WHERE id = 1") == engine.committed.position)
        try await engine.close()
    }

    @Test("A change of a row is refused while added columns hide every name of the rowid")
    func addedColumnsHideRowid() async throws {
        let engine = try await opened(
            after: "ALTER TABLE t ADD COLUMN rowid; ALTER TABLE t ADD COLUMN oid; ALTER TABLE t ADD COLUMN _rowid_")
        #expect(await code { try await engine.commit("UPDATE t SET v = 'new' WHERE id = 1") } == .schemaMismatch)
        try await engine.commit("ALTER TABLE t DROP COLUMN rowid")
        try await engine.commit("UPDATE t SET v = 'new' WHERE id = 1")
        #expect(try await faults(engine) == [])
        #expect(try await engine.integer("SELECT _position FROM t WHERE id = 1") == engine.committed.position)
        try await engine.close()
    }

    // MARK: Beside an open store

    /// Runs SQL as another program does while the store is open.
    private func other(_ sql: String) throws {
        let queue = try DatabaseQueue.foreign(path: folder.path())
        try queue.writeWithoutTransaction { db in
            db.add(function: DatabaseFunction("storage_engine", argumentCount: 0) { _ in 1 })
            try db.execute(sql: sql)
        }
        try queue.close()
    }

    /// What reads the segments that links are compared with, if it is kept.
    private func reader(_ engine: StorageEngine) async throws -> ObjectIdentifier? {
        try await engine.withWriter { writer, _ in writer.foreignWrites.reader.map(ObjectIdentifier.init) }
    }

    @Test("After another program's write, several transactions that change old rows decode a segment once")
    func keptSegments() async throws {
        let engine = try await opened(after: "SELECT 1")
        try other("INSERT INTO t(id, v) VALUES (7, 'theirs')")
        try await engine.commit("UPDATE t SET v = 'new' WHERE id = 1")
        let first = try #require(try await reader(engine))
        try await engine.commit("UPDATE t SET v = 'new' WHERE id = 2")
        #expect(try await reader(engine) == first)
        #expect(try await faults(engine) == [])
        try await engine.close()
    }

    @Test("After another program's next write, segments are read again")
    func forgottenSegments() async throws {
        let engine = try await opened(after: "SELECT 1")
        try other("INSERT INTO t(id, v) VALUES (7, 'theirs')")
        try await engine.commit("UPDATE t SET v = 'new' WHERE id = 1")
        try other("INSERT INTO t(id, v) VALUES (8, 'theirs')")
        try await engine.commit("INSERT INTO t(id) VALUES (4)")
        #expect(try await reader(engine) == nil)
        try await engine.commit("UPDATE t SET v = 'new' WHERE id = 2")
        #expect(try await reader(engine) != nil)
        #expect(try await faults(engine) == [])
        try await engine.close()
    }

    @Test("A large segment isn't kept in memory")
    func largeSegment() async throws {
        let engine = try await opened(after: "SELECT 1")
        try await engine.commit("INSERT INTO t(id, v) VALUES (5, randomblob(5 << 20))")
        try other("INSERT INTO t(id, v) VALUES (7, 'theirs')")
        try await engine.commit("UPDATE t SET v = 'new' WHERE id = 5")
        #expect(try await reader(engine) == nil)
        #expect(try await faults(engine) == [])
        try await engine.close()
    }

    /// An open store with tables that a `VACUUM` moves.
    private func openedWithGap(_ tables: [String] = ["t", "u"]) async throws -> StorageEngine {
        // So long that nothing is sealed meanwhile.
        let engine = try open(segmentLength: 1_024)
        try await engine.commit("CREATE TABLE gap(x)")
        for name in tables {
            try await engine.adopt(
                name, "CREATE TABLE \(name)(id INTEGER PRIMARY KEY, v, _position INTEGER NOT NULL DEFAULT 0)")
        }
        try await engine.commit("INSERT INTO t(id, v) VALUES (1, 'one'), (2, 'two'); DROP TABLE gap")
        return engine
    }

    private static let root = "SELECT rootpage FROM sqlite_schema WHERE name = 't'"

    @Test("A VACUUM beside an open store doesn't replace its tables")
    func vacuum() async throws {
        let engine = try await openedWithGap()
        let before = try await engine.integer(Self.root)
        try other("VACUUM")
        #expect(try await engine.integer(Self.root) != before)
        try await engine.commit("UPDATE t SET v = 'new' WHERE id = 1")
        #expect(try await faults(engine) == [])
        try await engine.close()
    }

    /// The new root of one table can be the old one of another.
    @Test(
        "A changed index and a VACUUM beside an open store don't exchange its tables",
        arguments: ["CREATE INDEX tv ON t(v)", "CREATE INDEX av ON a(v); CREATE INDEX uv ON u(v)", "DROP INDEX ci"])
    func indexAndVacuum(sql: String) async throws {
        let tables = ["t", "a", "b", "c", "u"]
        let engine = try await openedWithGap(tables)
        try await engine.commit("CREATE INDEX ci ON c(v); INSERT INTO a(id) VALUES (1); DELETE FROM a")
        let before = try await engine.withWriter { writer, _ in writer.catalog.live.map { [$0.name, $0.stored] } }
        try other("\(sql); VACUUM")
        for name in tables { try await engine.commit("INSERT INTO \(name)(id, v) VALUES (5, '\(name)')") }
        #expect(try await faults(engine) == [])
        #expect(
            try await engine.withWriter { writer, _ in writer.catalog.live.map { [$0.name, $0.stored] } } == before)
        try await engine.close()
    }

    @Test(
        "A table that is replaced beside an open store is refused",
        arguments: [
            """
            CREATE TABLE n(id INTEGER PRIMARY KEY, w, _position INTEGER NOT NULL DEFAULT 0); DROP TABLE t;
            ALTER TABLE n RENAME TO t
            """,
            "ALTER TABLE t ADD COLUMN w; VACUUM",
            """
            ALTER TABLE t RENAME TO old;
            CREATE TABLE t(id INTEGER PRIMARY KEY, v, _position INTEGER NOT NULL DEFAULT 0); DROP TABLE old
            """,
            """
            ALTER TABLE t RENAME TO old;
            CREATE TABLE t(id INTEGER PRIMARY KEY, v, _position INTEGER NOT NULL DEFAULT 0);
            INSERT INTO t(id, v) SELECT id, v FROM old; DROP TABLE old
            """,
        ])
    func replacedTable(sql: String) async throws {
        let engine = try await openedWithGap()
        let head = engine.committed
        try other(sql)
        // The second time as well, when nothing has changed since.
        for sql in ["INSERT INTO u(id) VALUES (1)", "INSERT INTO u(id) VALUES (2)"] {
            #expect(await code { try await engine.commit(sql) } == .schemaMismatch)
        }
        #expect(engine.committed == head)
        try await engine.close()
    }

    @Test("A table that is dropped beside an open store isn't recorded as dropped", arguments: ["", "; VACUUM"])
    func droppedTable(then sql: String) async throws {
        let engine = try await openedWithGap()
        let head = engine.committed
        try other("DROP TABLE t\(sql)")
        // The second time as well, when nothing has changed since.
        for sql in ["INSERT INTO t(id) VALUES (3)", "INSERT INTO u(id) VALUES (1)"] {
            let error = await #expect(throws: StorageError.self) { try await engine.commit(sql) }
            #expect(error?.code == .corrupt)
            #expect(error?.message.contains("dropped the table of entity \"t\"") == true)
        }
        #expect(engine.committed == head)
        try await engine.close()
    }
}
