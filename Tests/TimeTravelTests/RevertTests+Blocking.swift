import StorageHistory
import StorageKit
import TestSupport
import Testing

/// Rows that block each other beside others that can't be changed at all.
extension RevertTests {
    private func texts(_ sql: String, _ storage: Storage) async throws -> [String] {
        try await storage.read { try String.fetchAll($0, sql: sql) }
    }

    @Test("What a reference blocks is reported beside rows that are deleted together", arguments: [false, true])
    func blockedBesideDeletedTogether(overwrites: Bool) async throws {
        let storage = try openTable(
            """
            CREATE TABLE a(id INTEGER PRIMARY KEY, u TEXT UNIQUE);
            CREATE TABLE b(id INTEGER PRIMARY KEY, u TEXT REFERENCES a(u) ON UPDATE CASCADE);
            CREATE TABLE c(id INTEGER PRIMARY KEY,
                c INTEGER REFERENCES c(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED);
            """, adopting: ["a", "b", "c"])
        try await run("INSERT INTO a(id, u) VALUES (1, 'x')", storage)
        let point = storage.head
        try await run("UPDATE a SET u = 'y'", storage)
        try await run("INSERT INTO b(id, u) VALUES (7, 'y'); INSERT INTO c(id, c) VALUES (1, 2), (2, 1)", storage)
        let report = try await storage.engine.restore(
            ["a", "c"], to: .position(point), policy: overwrites ? .overwrite : .skip, metadata: CommitMetadata())
        #expect(report.outcome.conflicts.map(\.table) == (overwrites ? [] : ["a"]))
        let found = try await texts("SELECT u FROM a UNION ALL SELECT u FROM b UNION ALL SELECT id FROM c", storage)
        #expect(found == (overwrites ? ["x", "x"] : ["y", "y"]))
        #expect(try await storage.verify().isSound)
    }

    @Test("Rows that exchange unique values stay with those that refer to them when another row is overwritten")
    func exchangedBesideOverwritten() async throws {
        let storage = try openTable(
            """
            CREATE TABLE a(id INTEGER PRIMARY KEY, u TEXT UNIQUE);
            CREATE TABLE b(id INTEGER PRIMARY KEY, a INTEGER REFERENCES a(id) ON DELETE CASCADE);
            """, adopting: ["a", "b"])
        try await run(
            "INSERT INTO a(id, u) VALUES (1, 'p'), (2, 'q'), (3, 'r'); INSERT INTO b(id, a) VALUES (7, 1), (6, 2)",
            storage)
        let point = storage.head
        try await run(
            """
            UPDATE a SET u = '' WHERE id = 1; UPDATE a SET u = 'p' WHERE id = 2; UPDATE a SET u = 'q' WHERE id = 1;
            UPDATE a SET u = 's' WHERE id = 3; INSERT INTO a(id, u) VALUES (4, 'r'); INSERT INTO b(id, a) VALUES (9, 4)
            """, storage)
        let report = try await storage.engine.restore(
            ["a"], to: .position(point), policy: .overwrite, metadata: CommitMetadata())
        #expect(report.outcome.conflicts.isEmpty)
        #expect(try await texts("SELECT id || u FROM a ORDER BY id", storage) == ["1p", "2q", "3r"])
        #expect(try await texts("SELECT id FROM b ORDER BY id", storage) == ["6", "7"])
        #expect(try await storage.verify().isSound)
    }

    @Test("Unique values that have moved by one are restored in a few rounds", arguments: [-1, 1])
    func movedByOne(step: Int) async throws {
        let storage = try openTable("CREATE TABLE a(id INTEGER PRIMARY KEY, u INTEGER UNIQUE)", adopting: ["a"])
        try await run(
            """
            INSERT INTO a(id, u) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
            SELECT i, i FROM n
            """, storage)
        let point = storage.head
        try await run("UPDATE a SET u = -u; UPDATE a SET u = \(step) - u", storage)
        let report = try await storage.engine.restore(
            [], to: .position(point), policy: .abort, metadata: CommitMetadata())
        #expect(report.outcome.updated == 2_000)
        #expect(try await texts("SELECT count(*) FROM a WHERE u = id", storage) == ["2000"])
    }

    @Test("A row that another row of the commit blocks is reverted beside a conflict")
    func blockedByRowOfTheCommit() async throws {
        let storage = try openTable(
            """
            CREATE TABLE a(id INTEGER PRIMARY KEY, x TEXT, y INTEGER, UNIQUE(x, y));
            CREATE TABLE r(id INTEGER PRIMARY KEY, u TEXT UNIQUE);
            """, adopting: ["a", "r"])
        try await run(
            "INSERT INTO a(id, x, y) VALUES (1, 'p', 1), (2, 'q', 2); INSERT INTO r(id, u) VALUES (1, 'a')", storage)
        let commit = try await run(
            "UPDATE a SET x = 'q' WHERE id = 1; UPDATE a SET y = 9 WHERE id = 2; UPDATE r SET u = 'c'", storage)
        try await run("UPDATE a SET y = 2 WHERE id = 1; INSERT INTO r(id, u) VALUES (2, 'a')", storage)
        let report = try await storage.revert(commit, onConflict: .skip)
        #expect(report.outcome.conflicts.map(\.table) == ["r"])
        #expect(try await texts("SELECT id || x || y FROM a ORDER BY id", storage) == ["1p2", "2q2"])
    }

    @Test("To overwrite, what blocks a row may be deleted with another one")
    func blockerIsDeletedWithAnother() async throws {
        let storage = try openTable(
            """
            CREATE TABLE x(id INTEGER PRIMARY KEY);
            CREATE TABLE t(id INTEGER PRIMARY KEY, u TEXT UNIQUE, x INTEGER REFERENCES x(id) ON DELETE CASCADE);
            """, adopting: ["x", "t"])
        try await run("INSERT INTO t(id, u) VALUES (1, 'v')", storage)
        let commit = try await run(
            "UPDATE t SET u = 'w'; UPDATE t SET u = 'z'; INSERT INTO x(id) VALUES (5)", storage)
        try await run("INSERT INTO t(id, u, x) VALUES (9, 'v', 5)", storage)
        let report = try await storage.revert(commit, onConflict: .overwrite)
        #expect(report.outcome.conflicts.isEmpty)
        #expect(try await texts("SELECT id || u FROM t", storage) == ["1v"])
    }
}
