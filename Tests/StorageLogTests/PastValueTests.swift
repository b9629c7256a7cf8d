import GRDB
import StorageCore
import StorageEntities
import StorageHistory
import StorageMaintenance
import Testing

@testable import StorageLog

/// The past, a check and a rebuild have the very values of the tables, whatever rules those have.
@Suite struct PastValueTests {
    private func rows(_ sql: String, of engine: StorageEngine) async throws -> [String] {
        try await engine.withWriter { _, db in try String.fetchAll(db, sql: sql) }
    }

    private func past(
        _ sql: String, _ table: String, at position: Int64, _ schema: SnapshotSchema, of engine: StorageEngine
    ) async throws -> [String] {
        try await engine.read { db in
            try MaterializedSnapshot(at: position, of: db, schema: schema).read([table], from: db) {
                try String.fetchAll($0, sql: sql)
            }
        }
    }

    /// The table as it is, in the past of both schemas, and after a rebuild.
    private func expectSameEverywhere(_ sql: String, _ table: String, _ engine: StorageEngine) async throws {
        let before = try await rows(sql, of: engine)
        let head = engine.committed.position
        // So that the past is another point than now.
        try await engine.commit("DELETE FROM \(table)")
        for schema in [SnapshotSchema.current, .asRecorded] {
            #expect(try await past(sql, table, at: head, schema, of: engine) == before, "\(schema)")
        }
        _ = try await engine.revert(
            engine.committed.commit, policy: .abort, metadata: CommitMetadata())
        #expect(try await rows(sql, of: engine) == before)
        #expect(try await findings(engine) == [])
        _ = try await Rebuild(engine).run()
        #expect(try await rows(sql, of: engine) == before)
        #expect(try await findings(engine) == [])
    }

    private func findings(_ engine: StorageEngine) async throws -> [String] {
        try await engine.withWriter { writer, _ in
            var verifier = Verifier(writer.database)
            return try verifier.run().findings.map { "\($0)" }
        }
    }

    @Test("Values of strict tables round-trip")
    func strictTableValues() async throws {
        let engine = try TestStore.inMemory()
        try await engine.adopt(
            "e", "CREATE TABLE e(id INTEGER PRIMARY KEY, p ANY, _position INT NOT NULL DEFAULT 0) STRICT")
        try await engine.adopt(
            "k", "CREATE TABLE k(p ANY NOT NULL PRIMARY KEY, _position INT NOT NULL DEFAULT 0) STRICT")
        try await engine.commit("INSERT INTO e(p) VALUES ('1'), ('007'), ('1e3'), (1.0), (1), (x'31'), (NULL)")
        try await engine.commit("INSERT INTO k(p) VALUES ('2'), (2), (x'32'), ('2.0')")
        try await expectSameEverywhere("SELECT quote(p) FROM e ORDER BY id", "e", engine)
        try await expectSameEverywhere("SELECT quote(p) FROM k ORDER BY p", "k", engine)
    }

    @Test("A new column of a strict table has exactly its default")
    func newColumnOfStrictTable() async throws {
        let engine = try TestStore.inMemory()
        try await engine.adopt("s", "CREATE TABLE s(id INTEGER PRIMARY KEY, _position INT NOT NULL DEFAULT 0) STRICT")
        try await engine.commit("INSERT INTO s(id) VALUES (1), (2)")
        let before = engine.committed.position
        try await engine.commit("ALTER TABLE s ADD COLUMN z ANY DEFAULT '007'")
        try await engine.commit("ALTER TABLE s ADD COLUMN y TEXT DEFAULT 7")
        #expect(try await findings(engine) == [])
        // Rows from before the column have its default, too.
        #expect(try await past("SELECT quote(z) FROM s", "s", at: before, .current, of: engine) == ["'007'", "'007'"])
        try await expectSameEverywhere("SELECT quote(z) || quote(y) FROM s ORDER BY id", "s", engine)
        #expect(try await rows("SELECT quote(z) || quote(y) FROM s", of: engine) == ["'007''7'", "'007''7'"])
    }

    /// A default that no row can take is found out by the row.
    @Test("A default of another type is harmless")
    func defaultOfAnotherType() async throws {
        let engine = try TestStore.inMemory()
        try await engine.adopt(
            "s",
            "CREATE TABLE s(id INTEGER PRIMARY KEY, n INT DEFAULT 'no number', _position INT NOT NULL DEFAULT 0) STRICT"
        )
        #expect(await code { try await engine.commit("INSERT INTO s(id) VALUES (1)") } == .conflict)
        try await engine.commit("INSERT INTO s(id, n) VALUES (1, 2)")
        try await expectSameEverywhere("SELECT quote(n) FROM s", "s", engine)
    }

    /// A condition finds in the past the rows that it finds in the table.
    @Test("A snapshot compares as the table does")
    func snapshotCollations() async throws {
        let engine = try TestStore.inMemory()
        try await engine.adopt(
            "w",
            """
            CREATE TABLE w(
              id TEXT COLLATE NOCASE PRIMARY KEY NOT NULL, name TEXT COLLATE RTRIM, n INTEGER,
              _position INTEGER NOT NULL DEFAULT 0)
            """)
        try await engine.commit("INSERT INTO w(id, name, n) VALUES ('Anna', 'a  ', 1), ('ben', 'b', 2)")
        for condition in ["id = 'ANNA'", "name = 'a'", "n = '1'", "id > 'ANNA'"] {
            try await expectSameEverywhere("SELECT id FROM w WHERE \(condition)", "w", engine)
        }
        #expect(try await rows("SELECT id FROM w WHERE id = 'ANNA' AND name = 'a' AND n = '1'", of: engine) == ["Anna"])
        // What is one key to the collation may change its spelling.
        try await engine.commit("UPDATE w SET id = 'ANNA' WHERE id = 'anna'")
        try await engine.commit("INSERT OR REPLACE INTO w(id, n) VALUES ('BEN', 3)")
        try await expectSameEverywhere("SELECT id || n FROM w ORDER BY n", "w", engine)
    }

    @Test("A recreated table may merge two keys into one")
    func recreatedTableWithCollation() async throws {
        let engine = try TestStore.inMemory()
        try await engine.adopt(
            "u", "CREATE TABLE u(id TEXT NOT NULL PRIMARY KEY, n, _position INTEGER NOT NULL DEFAULT 0)")
        try await engine.commit("INSERT INTO u(id, n) VALUES ('a', 1), ('A', 2), ('b', 3)")
        let head = engine.committed.position
        _ = try await engine.commit(CommitMetadata()) { writer, db in
            try db.execute(
                sql: """
                    CREATE TABLE fresh(id TEXT COLLATE NOCASE NOT NULL PRIMARY KEY, n);
                    INSERT INTO fresh SELECT id, n FROM u WHERE id <> 'A';
                    UPDATE fresh SET id = 'B' WHERE id = 'b';
                    DROP TABLE u;
                    ALTER TABLE fresh RENAME TO u;
                    """)
            try RecreatedTableReconciliation(writer).reconcile()
        }
        let sql = "SELECT id || n FROM u ORDER BY n"
        for schema in [SnapshotSchema.current, .asRecorded] {
            #expect(try await past(sql, "u", at: head, schema, of: engine) == ["a1", "A2", "b3"], "\(schema)")
        }
        #expect(try await rows(sql, of: engine) == ["a1", "B3"])
        #expect(try await findings(engine) == [])
        try await expectSameEverywhere(sql, "u", engine)
    }

    @Test(
        "Rows that violate today's constraints are in snapshots", arguments: ["REPLACE", "IGNORE", "FAIL", "ROLLBACK"])
    func rowsBreakingConstraints(clause: String) async throws {
        let engine = try TestStore.inMemory()
        try await engine.adopt(
            "u", "CREATE TABLE u(id INTEGER PRIMARY KEY, x, y, _position INTEGER NOT NULL DEFAULT 0)")
        try await engine.commit("INSERT INTO u(id, x, y) VALUES (1, 'same', NULL), (2, 'same', 'y')")
        let head = engine.committed.position
        try await engine.commit("UPDATE u SET x = 'x' || id, y = 'y'")
        _ = try await engine.commit(CommitMetadata()) { writer, db in
            try db.execute(
                sql: """
                    CREATE TABLE fresh(
                      id INTEGER PRIMARY KEY, x UNIQUE ON CONFLICT \(clause), y NOT NULL ON CONFLICT \(clause) DEFAULT 'd');
                    INSERT INTO fresh SELECT id, x, y FROM u;
                    DROP TABLE u;
                    ALTER TABLE fresh RENAME TO u;
                    """)
            try RecreatedTableReconciliation(writer).reconcile()
        }
        let sql = "SELECT id || quote(x) || quote(y) FROM u ORDER BY id"
        for schema in [SnapshotSchema.current, .asRecorded] {
            #expect(
                try await past(sql, "u", at: head, schema, of: engine) == ["1'same'NULL", "2'same''y'"], "\(schema)")
        }
        try await expectSameEverywhere(sql, "u", engine)
    }
}
