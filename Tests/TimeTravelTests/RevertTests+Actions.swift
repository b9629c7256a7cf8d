import StorageHistory
import StorageKit
import StorageTesting
import TestSupport
import Testing

/// Reverts and restores change no other rows by the actions of foreign keys, unless they overwrite.
extension RevertTests {
    /// The values of columns such as `a.u`, each as `a1 x`, one column after the other.
    private func texts(_ storage: Storage, _ columns: String...) async throws -> [String] {
        try await storage.read { db in
            try columns.flatMap { column in
                let table = column.prefix(1)
                return try String.fetchAll(
                    db,
                    sql: "SELECT '\(table)' || id || ' ' || coalesce(\(column), 'NULL') FROM \(table) ORDER BY id")
            }
        }
    }

    @Test(
        "A value stays under rows that refer to it by now",
        arguments: ["NO ACTION", "CASCADE", "SET NULL", "SET DEFAULT"], ConflictPolicy.allCases)
    func valueReferredToSince(action: String, policy: ConflictPolicy) async throws {
        for restores in [false, true] {
            let storage = try openTable(
                """
                CREATE TABLE a(id INTEGER PRIMARY KEY, u TEXT UNIQUE);
                CREATE TABLE b(id INTEGER PRIMARY KEY, u TEXT REFERENCES a(u) ON UPDATE \(action));
                """, adopting: ["a", "b"])
            try await run("INSERT INTO a(id, u) VALUES (1, 'x')", storage)
            let point = storage.head
            let update = try await run("UPDATE a SET u = 'y'", storage)
            try await run("INSERT INTO b(id, u) VALUES (7, 'y')", storage)
            func revert() async throws -> RevertReport {
                guard restores else { return try await storage.revert(update, onConflict: policy) }
                return try await storage.engine.restore(
                    ["a"], to: .position(point), policy: policy, metadata: CommitMetadata())
            }
            let reason =
                restores || action == "NO ACTION"
                ? "a/1: b/7 refers to it" : "a/1: rows that refer to it would be changed too"
            var expected = ["a1 y", "b7 y"]
            switch (policy, action) {
            case (.abort, _):
                let error = await #expect(throws: StorageError.self) { _ = try await revert() }
                #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
            case (.skip, _), (_, "NO ACTION"):
                #expect(try await revert().outcome.conflicts.map(\.description) == [reason])
            default:
                let report = try await revert()
                #expect(report.outcome.conflicts.isEmpty)
                #expect(report.outcome.updated == 2)
                expected = ["a1 x", action == "CASCADE" ? "b7 x" : "b7 NULL"]
            }
            #expect(try await texts(storage, "a.u", "b.u") == expected)
            #expect(try await storage.verify().isSound)
        }
    }

    @Test("Values that follow others are restored as they were", arguments: [["a"], ["b", "c"], ["c", "b"]])
    func valuesThatFollowOthers(tables: [String]) async throws {
        let column = "TEXT REFERENCES a(u) ON UPDATE CASCADE"
        let storage = try openTable(
            """
            CREATE TABLE a(id INTEGER PRIMARY KEY, u TEXT UNIQUE, p \(column));
            CREATE TABLE b(id INTEGER PRIMARY KEY, u TEXT UNIQUE);
            CREATE TABLE c(id INTEGER PRIMARY KEY, u \(column.replacing("a(u)", with: "b(u)")));
            """, adopting: tables)
        let parent = tables == ["a"] ? "a" : "b"
        try await run("INSERT INTO \(parent)(id, u) VALUES (2, 'x'), (3, 'y')", storage)
        try await run(
            tables == ["a"]
                ? "INSERT INTO a(id, u, p) VALUES (1, 'c', 'y')" : "INSERT INTO c(id, u) VALUES (1, 'y')", storage)
        let before = try await texts(storage, "a.u", "a.p", "b.u", "c.u")
        let point = storage.head
        try await run("UPDATE \(parent) SET u = 'z' WHERE id = 3", storage)
        try await run("UPDATE \(parent) SET u = 'y' WHERE id = 2", storage)
        try await storage.restore(to: .position(point))
        #expect(try await texts(storage, "a.u", "a.p", "b.u", "c.u") == before)
        #expect(try await storage.verify().isSound)
    }

    @Test(
        "A row is replaced under those that refer to it, whatever conflicts elsewhere",
        arguments: ["CASCADE", "SET NULL", "SET DEFAULT"], ConflictPolicy.allCases)
    func replacedUnderReferences(action: String, policy: ConflictPolicy) async throws {
        let storage = try openTable(
            """
            CREATE TABLE p(id INTEGER PRIMARY KEY, x TEXT);
            CREATE TABLE c(id INTEGER PRIMARY KEY, p INTEGER REFERENCES p(id) ON DELETE \(action));
            CREATE TABLE r(id INTEGER PRIMARY KEY, x TEXT UNIQUE);
            """, adopting: ["p", "c", "r"])
        try await run(
            """
            INSERT INTO p(id, x) VALUES (1, 'old'); INSERT INTO c(id, p) VALUES (1, 1);
            INSERT INTO r(id, x) VALUES (1, 'a'), (2, 'b');
            """, storage)
        let commit = try await run(
            """
            DELETE FROM c; REPLACE INTO p(id, x) VALUES (1, 'new');
            UPDATE r SET x = 'c' WHERE id = 1; UPDATE r SET x = 'd' WHERE id = 2;
            """, storage)
        // One row has been deleted since, another one's value belongs to a third.
        try await run(
            """
            INSERT INTO c(id, p) VALUES (2, 1); DELETE FROM r WHERE id = 1; INSERT INTO r(id, x) VALUES (3, 'b');
            """, storage)
        if policy == .abort {
            await #expect(throws: StorageError.self) { try await storage.revert(commit) }
        } else {
            let report = try await storage.revert(commit, onConflict: policy)
            #expect(Set(report.outcome.conflicts.map { [.text($0.table)] + $0.key }) == [["r", 1], ["r", 2]])
        }
        let expected = policy == .abort ? ["p1 new", "c2 1"] : ["p1 old", "c1 1", "c2 1"]
        #expect(try await texts(storage, "p.x", "c.p") == expected)
        #expect(try await texts(storage, "r.x") == ["r2 d", "r3 b"])
        #expect(try await storage.verify().isSound)
    }

    @Test("What a commit leaves as it was blocks no revert of the rest", arguments: ConflictPolicy.allCases)
    func unchangedRowsThatOthersBlock(policy: ConflictPolicy) async throws {
        let storage = try openTable("CREATE TABLE a(id INTEGER PRIMARY KEY, u UNIQUE, v UNIQUE)", adopting: ["a"])
        try await run("INSERT INTO a(id, u, v) VALUES (3, 'c', 0), (4, 'd', 4)", storage)
        // A row that comes and goes, one whose value comes back, and one of which another value changes.
        let commit = try await run(
            """
            INSERT INTO a(id, u) VALUES (1, 'x'); DELETE FROM a WHERE id = 1; INSERT INTO a(id, u) VALUES (9, 'n');
            UPDATE a SET u = 'y' WHERE id = 3; UPDATE a SET u = 'c' WHERE id = 3;
            UPDATE a SET u = 'z', v = 5 WHERE id = 4; UPDATE a SET u = 'd' WHERE id = 4;
            """, storage)
        try await run("INSERT INTO a(id, u) VALUES (5, 'x'), (6, 'y'), (7, 'z')", storage)
        let report = try await storage.revert(commit, onConflict: policy)
        #expect(report.outcome.conflicts.isEmpty)
        #expect(report.outcome.count == 2)
        #expect(try await texts(storage, "a.u") == ["a3 c", "a4 d", "a5 x", "a6 y", "a7 z"])
        #expect(try await texts(storage, "a.v").prefix(2) == ["a3 0", "a4 4"])
        #expect(try await storage.verify().isSound)
    }

    @Test("Undo passes a commit without a net change, whatever another row holds by then")
    func undoPassesBlockedEmptyCommit() async throws {
        let storage = try openTable("CREATE TABLE a(id INTEGER PRIMARY KEY, u UNIQUE)", adopting: ["a"])
        try await run("INSERT INTO a(id, u) VALUES (1, 'p')", storage)
        try await run("INSERT INTO a(id, u) VALUES (2, 'x')", storage)
        try await run("DELETE FROM a WHERE id = 2", storage)
        try await run("INSERT INTO a(id, u) VALUES (3, 'x'); DELETE FROM a WHERE id = 3", storage)
        for expected in [["a1 p", "a2 x"], ["a1 p"], []] {
            try await storage.undo()
            #expect(try await texts(storage, "a.u") == expected)
        }
    }

    @Test("Rows whose unique values have moved up are left out together")
    func movedUniqueValues() async throws {
        let storage = try openTable("CREATE TABLE a(id INTEGER PRIMARY KEY, u INTEGER UNIQUE)", adopting: ["a"])
        try await run(
            """
            INSERT INTO a(id, u) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
            SELECT i, i FROM n
            """, storage)
        let commit = try await run(
            "UPDATE a SET u = -u; UPDATE a SET u = -u + 1; DELETE FROM a WHERE id = 201", storage)
        try await run("INSERT INTO a(id, u) VALUES (999, 1)", storage)
        let before = try await texts(storage, "a.u")
        let changed = try await changedRows(storage)
        let report = try await storage.revert(commit, onConflict: .skip)
        // Tried a few times, and not once for each row.
        #expect(try await changedRows(storage) - changed < 10_000)
        #expect(report.outcome.conflicts.count == 201)
        #expect(report.outcome.count == 99)
        #expect(try await Array(texts(storage, "a.u").prefix(200)) == Array(before.prefix(200)))
        #expect(try await storage.verify().isSound)
    }

    @Test("Rows of a table without history stay", arguments: ["CASCADE", "SET NULL"], ConflictPolicy.allCases)
    func rowsWithoutHistory(action: String, policy: ConflictPolicy) async throws {
        for restores in [false, true] {
            let storage = try openTable(
                """
                CREATE TABLE a(id INTEGER PRIMARY KEY, u TEXT);
                CREATE TABLE n(id INTEGER PRIMARY KEY, u INTEGER REFERENCES a(id) ON DELETE \(action));
                """, adopting: ["a"])
            let point = storage.head
            let insertion = try await run(
                "INSERT INTO a(id) VALUES (1), (2); INSERT INTO n(id, u) VALUES (7, 1)", storage)
            let reason =
                policy == .overwrite
                ? "rows of a table without history would be deleted or changed too"
                : "rows that refer to it would be deleted too"
            try await expectConflict("a/1", because: reason, in: storage, with: policy) { isDryRun in
                guard restores else {
                    return try await storage.revert(insertion, onConflict: policy, isDryRun: isDryRun)
                }
                return try await storage.engine.restore(
                    [], to: .position(point), policy: policy, metadata: CommitMetadata(), isDryRun: isDryRun)
            }
            #expect(try await texts(storage, "n.u") == ["n7 1"])
        }
    }

    /// Longer than SQLite lets actions of foreign keys cause others.
    @Test("To overwrite, a long chain is deleted row by row, the last one with a later row", arguments: [false, true])
    func longChainUnderLaterRow(restores: Bool) async throws {
        let storage = try openTable(
            """
            CREATE TABLE a(id INTEGER PRIMARY KEY, a INTEGER REFERENCES a(id) ON DELETE CASCADE);
            CREATE TABLE b(id INTEGER PRIMARY KEY, a INTEGER REFERENCES a(id) ON DELETE CASCADE);
            CREATE INDEX a_a ON a(a);
            CREATE INDEX b_a ON b(a);
            """, adopting: ["a", "b"])
        let point = storage.head
        let insertion = try await run(
            """
            PRAGMA defer_foreign_keys = ON;
            INSERT INTO a(id, a) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
            SELECT i, nullif(i + 1, 3001) FROM n
            """, storage)
        try await run("INSERT INTO b(id, a) VALUES (7, 1)", storage)
        let report =
            try await restores
            ? storage.engine.restore(["a"], to: .position(point), policy: .overwrite, metadata: CommitMetadata())
            : storage.revert(insertion, onConflict: .overwrite)
        #expect(report.outcome.conflicts.isEmpty)
        #expect(report.outcome.deleted == 3_001)
        #expect(try await storage.verify().isSound)
    }

    /// The number of rows that have been written, whether or not that was undone.
    private func changedRows(_ storage: Storage) async throws -> Int64 {
        try await storage.engine.withWriter { writer, _ in writer.database.totalChanges }
    }
}
