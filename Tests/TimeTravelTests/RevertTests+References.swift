import StorageHistory
import StorageKit
import TestSupport
import Testing

/// Reverts that would leave references to rows that aren't there.
extension RevertTests {
    private func openReferring() throws -> Storage {
        try openTable(
            """
            CREATE TABLE a(id INTEGER PRIMARY KEY, u TEXT);
            CREATE TABLE b(id INTEGER PRIMARY KEY, a INTEGER REFERENCES a(id));
            """, adopting: ["a", "b"])
    }

    private func rows(_ storage: Storage) async throws -> [String] {
        try await storage.read { db in
            try String.fetchAll(db, sql: "SELECT 'a' || id FROM a UNION ALL SELECT 'b' || id FROM b ORDER BY 1")
        }
    }

    /// Tries a reversal of two rows, of which one can't be reverted: first as a dry run, which foretells the outcome.
    func expectConflict(
        _ row: String, because reason: String, in storage: Storage, with policy: ConflictPolicy,
        _ revert: (_ isDryRun: Bool) async throws -> RevertReport
    ) async throws {
        guard policy != .abort else {
            for isDryRun in [true, false] {
                let error = await #expect(throws: StorageError.self) { _ = try await revert(isDryRun) }
                #expect(error?.code == .conflict)
                #expect(error?.message.contains("\(row): \(reason)") ?? false, "\(error?.message ?? "")")
            }
            return
        }
        let plan = try await revert(true)
        let report = try await revert(false)
        #expect(plan.outcome == report.outcome)
        #expect(report.outcome.conflicts.map(\.description) == ["\(row): \(reason)"])
        #expect(report.outcome.count == 1)
        #expect(try await storage.verify().isSound)
    }

    @Test("Inserts of rows that others refer to by now aren't reverted", arguments: ConflictPolicy.allCases)
    func insertReferredToSince(policy: ConflictPolicy) async throws {
        let storage = try openReferring()
        let point = storage.head
        let insertion = try await run("INSERT INTO a(id, u) VALUES (1, 'x'), (2, 'y')", storage)
        try await run("INSERT INTO b(id, a) VALUES (7, 1)", storage)
        try await expectConflict("a/1", because: "b/7 refers to it", in: storage, with: policy) {
            try await storage.revert(insertion, onConflict: policy, isDryRun: $0)
        }
        #expect(try await rows(storage) == (policy == .abort ? ["a1", "a2", "b7"] : ["a1", "b7"]))
        try await run("INSERT INTO a(id, u) VALUES (3, 'z')", storage)
        if policy == .abort { try await run("DELETE FROM a WHERE id = 2", storage) }
        try await expectConflict("a/1", because: "b/7 refers to it", in: storage, with: policy) {
            try await storage.engine.restore(
                ["a"], to: .position(point), policy: policy, metadata: CommitMetadata(), isDryRun: $0)
        }
        #expect(try await rows(storage) == (policy == .abort ? ["a1", "a3", "b7"] : ["a1", "b7"]))
    }

    @Test("Rows are deleted with the rows that refer to them", arguments: ["CASCADE", "SET NULL"])
    func deletionWithReferringRows(action: String) async throws {
        let storage = try openTable(
            """
            CREATE TABLE a(id INTEGER PRIMARY KEY, a INTEGER REFERENCES a(id) ON DELETE \(action));
            CREATE TABLE b(id INTEGER PRIMARY KEY, a INTEGER REFERENCES a(id) ON DELETE \(action));
            """, adopting: ["a", "b"])
        try await run("INSERT INTO a(id) VALUES (1)", storage)
        let point = storage.head
        try await run(
            "INSERT INTO a(id, a) VALUES (2, 1), (3, 2), (4, 3); INSERT INTO b(id, a) VALUES (7, 2)", storage)
        // The row of b stays, so the one that it refers to does.
        let skipped = try await storage.engine.restore(
            ["a"], to: .position(point), policy: .skip, metadata: CommitMetadata(), isDryRun: true)
        #expect(skipped.outcome.conflicts.map(\.description) == ["a/2: rows that refer to it would be deleted too"])
        #expect(skipped.outcome.deleted == 2)
        let report = try await storage.engine.restore(
            [], to: .position(point), policy: .abort, metadata: CommitMetadata())
        #expect(report.outcome.conflicts.isEmpty)
        #expect(report.outcome.deleted == 4)
        #expect(try await rows(storage) == ["a1"])
        #expect(try await storage.verify().isSound)
    }

    @Test("Deletes of rows that refer to missing ones aren't reverted", arguments: ConflictPolicy.allCases)
    func deleteWhoseReferenceIsGone(policy: ConflictPolicy) async throws {
        let reason = "it refers to a row of a that isn't there"
        for restores in [false, true] {
            let storage = try openReferring()
            try await run(
                "INSERT INTO a(id, u) VALUES (1, 'x'), (2, 'y'); INSERT INTO b(id, a) VALUES (7, 1), (8, 2)", storage)
            let point = storage.head
            let deletion = try await run("DELETE FROM b", storage)
            try await run("DELETE FROM a WHERE id = 1", storage)
            try await expectConflict("b/7", because: reason, in: storage, with: policy) { isDryRun in
                if restores {
                    return try await storage.engine.restore(
                        ["b"], to: .position(point), policy: policy, metadata: CommitMetadata(), isDryRun: isDryRun)
                }
                return try await storage.revert(deletion, onConflict: policy, isDryRun: isDryRun)
            }
            #expect(try await rows(storage) == (policy == .abort ? ["a2"] : ["a2", "b8"]))
        }
    }

    /// A conflict of its own keeps the referring row.
    @Test("A row stays with one that refers to it and has changed since", arguments: [true, false])
    func changedRowKeepsItsReference(isDryRun: Bool) async throws {
        let storage = try openReferring()
        let insertion = try await run(
            "INSERT INTO a(id, u) VALUES (1, 'x'), (2, 'y'); INSERT INTO b(id, a) VALUES (7, 1)", storage)
        try await run("UPDATE b SET a = 2", storage)
        let report = try await storage.revert(insertion, onConflict: .skip, isDryRun: isDryRun)
        #expect(report.outcome.deleted == 1)
        #expect(report.outcome.conflicts.map(\.table).sorted() == ["a", "b"])
        #expect(try await rows(storage) == (isDryRun ? ["a1", "a2", "b7"] : ["a2", "b7"]))
        // To overwrite, all of it is reverted.
        if isDryRun { try await storage.revert(insertion, onConflict: .overwrite) }
        if isDryRun { #expect(try await rows(storage) == []) }
    }

    /// With the first row SQLite would delete the others, but refuses to do so at this length.
    @Test("A long chain of references is reverted, whichever end was inserted first", arguments: ["ASC", "DESC"])
    func longChain(order: String) async throws {
        let storage = try openTable(
            """
            CREATE TABLE a(id INTEGER PRIMARY KEY, a INTEGER REFERENCES a(id) ON DELETE CASCADE);
            CREATE INDEX a_a ON a(a);
            """, adopting: ["a"])
        func count() async throws -> Int? {
            try await storage.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM a") }
        }
        let insertion = try await run(
            """
            INSERT INTO a(id, a) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500)
            SELECT i, nullif(i - 1, 0) FROM n ORDER BY i \(order)
            """, storage)
        let report = try await storage.revert(insertion, onConflict: .abort)
        #expect(report.outcome.deleted == 1_500)
        #expect(try await count() == 0)
        // What that deleted comes back, and goes again.
        try await storage.revert(try #require(report.receipt?.commit), onConflict: .abort)
        #expect(try await count() == 1_500)
        try await storage.revert(insertion, onConflict: .abort)
        #expect(try await count() == 0)
        #expect(try await storage.verify().isSound)
    }

    @Test("The rows of a chain that can't be reverted are left out together", arguments: [true, false])
    func chainThatStays(isInserted: Bool) async throws {
        let storage = try openTable(
            """
            CREATE TABLE a(id INTEGER PRIMARY KEY, a INTEGER REFERENCES a(id));
            CREATE TABLE b(id INTEGER PRIMARY KEY, a INTEGER REFERENCES a(id));
            CREATE INDEX a_a ON a(a);
            CREATE INDEX b_a ON b(a);
            """, adopting: ["a", "b"])
        func changedRows() async throws -> Int64 {
            try await storage.engine.withWriter { writer, _ in writer.database.totalChanges }
        }
        var commit = try await run(
            """
            INSERT INTO a(id, a) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
            SELECT i, nullif(i - 1, 0) FROM n
            """, storage)
        if isInserted {
            try await run("INSERT INTO b(id, a) VALUES (7, 300)", storage)
        } else {
            commit = try await run("DELETE FROM a WHERE id > 1", storage)
            try await run("DELETE FROM a", storage)
        }
        let before = try await rows(storage)
        let changed = try await changedRows()
        let report = try await storage.revert(commit, onConflict: .skip)
        // Tried once, and not once for each row.
        #expect(try await changedRows() - changed < 3_000)
        #expect(report.outcome.count == 0)
        let conflicts = report.outcome.conflicts.map(\.description)
        let missing = "it refers to a row of a that isn't there"
        #expect(conflicts.count == (isInserted ? 300 : 299))
        #expect(conflicts.first == (isInserted ? "a/300: b/7 refers to it" : "a/2: \(missing)"))
        #expect(conflicts.last == (isInserted ? "a/1: a/2 refers to it" : "a/300: \(missing)"))
        #expect(try await rows(storage) == before)
        #expect(try await storage.verify().isSound)
    }

    @Test(
        "Rows that a foreign key can't change are deleted before the rows that they refer to",
        arguments: [
            "NOT NULL REFERENCES a(id) ON DELETE SET NULL", "CHECK (a IS NOT NULL) REFERENCES a(id) ON DELETE SET NULL",
            "UNIQUE DEFAULT 0 REFERENCES a(id) ON DELETE SET DEFAULT",
        ], ConflictPolicy.allCases)
    func rowsThatCannotBeChanged(column: String, policy: ConflictPolicy) async throws {
        for restores in [false, true] {
            let storage = try openTable(
                """
                CREATE TABLE a(id INTEGER PRIMARY KEY, a INTEGER \(column) DEFERRABLE INITIALLY DEFERRED);
                CREATE TABLE b(id INTEGER PRIMARY KEY, a INTEGER \(column) DEFERRABLE INITIALLY DEFERRED);
                """, adopting: ["a", "b"])
            let point = storage.head
            let insertion = try await run(
                "INSERT INTO b(id, a) VALUES (7, 0), (8, 1); INSERT INTO a(id, a) VALUES (0, 0), (1, 1)", storage)
            let report =
                try await restores
                ? storage.engine.restore([], to: .position(point), policy: policy, metadata: CommitMetadata())
                : storage.revert(insertion, onConflict: policy)
            #expect(report.outcome.conflicts.isEmpty)
            #expect(report.outcome.deleted == 4)
            #expect(try await rows(storage) == [])
            #expect(try await storage.verify().isSound)
        }
    }

    @Test(
        "Rows that refer to each other are deleted together", arguments: ["CASCADE", "SET NULL"],
        ConflictPolicy.allCases)
    func cycleOfReferences(action: String, policy: ConflictPolicy) async throws {
        let storage = try openTable(
            """
            CREATE TABLE a(id INTEGER PRIMARY KEY,
                a INTEGER NOT NULL REFERENCES a(id) ON DELETE \(action) DEFERRABLE INITIALLY DEFERRED);
            """, adopting: ["a"])
        let point = storage.head
        try await run("INSERT INTO a(id, a) VALUES (1, 2), (2, 1)", storage)
        let report = try await storage.engine.restore(
            [], to: .position(point), policy: policy, metadata: CommitMetadata())
        #expect(report.outcome.conflicts.isEmpty)
        #expect(report.outcome.deleted == 2)
        #expect(try await storage.verify().isSound)
    }

    @Test("A later row that a foreign key can't change keeps the one under it", arguments: ConflictPolicy.allCases)
    func laterRowThatCannotBeChanged(policy: ConflictPolicy) async throws {
        let storage = try openTable(
            """
            CREATE TABLE a(id INTEGER PRIMARY KEY, u TEXT);
            CREATE TABLE b(id INTEGER PRIMARY KEY, a INTEGER NOT NULL REFERENCES a(id) ON DELETE SET NULL);
            """, adopting: ["a", "b"])
        let insertion = try await run("INSERT INTO a(id) VALUES (1), (2)", storage)
        try await run("INSERT INTO b(id, a) VALUES (7, 1)", storage)
        let reason = "A constraint of the schema refused the change: NOT NULL constraint failed: b.a."
        try await expectConflict(
            "a/1", because: "a row that refers to it prevents this (\(reason))", in: storage, with: policy
        ) {
            try await storage.revert(insertion, onConflict: policy, isDryRun: $0)
        }
        #expect(try await rows(storage) == (policy == .abort ? ["a1", "a2", "b7"] : ["a1", "b7"]))
    }

    @Test("To overwrite, a row is deleted once the later rows under it are", arguments: [false, true])
    func overwritingWithLaterRows(restores: Bool) async throws {
        let storage = try openTable(
            """
            CREATE TABLE a(id INTEGER PRIMARY KEY, u TEXT);
            CREATE TABLE b(id INTEGER PRIMARY KEY, a INTEGER NOT NULL REFERENCES a(id) ON DELETE SET NULL);
            CREATE TABLE c(id INTEGER PRIMARY KEY, b INTEGER REFERENCES b(id) ON DELETE CASCADE);
            """, adopting: ["a", "b", "c"])
        let point = storage.head
        let insertion = try await run("INSERT INTO a(id) VALUES (1); INSERT INTO b(id, a) VALUES (7, 1)", storage)
        try await run("INSERT INTO c(id, b) VALUES (9, 7)", storage)
        let report =
            try await restores
            ? storage.engine.restore(["a", "b"], to: .position(point), policy: .overwrite, metadata: CommitMetadata())
            : storage.revert(insertion, onConflict: .overwrite)
        #expect(report.outcome.conflicts.isEmpty)
        #expect(report.outcome.deleted == 3)
        #expect(try await storage.verify().isSound)
    }

    @Test("A chain of references in any order is deleted without trying each row many times", arguments: [false, true])
    func shuffledChain(restores: Bool) async throws {
        let storage = try openTable(
            """
            CREATE TABLE a(id INTEGER PRIMARY KEY,
                a INTEGER REFERENCES a(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED);
            CREATE INDEX a_a ON a(a);
            """, adopting: ["a"])
        func changedRows() async throws -> Int64 {
            try await storage.engine.withWriter { writer, _ in writer.database.totalChanges }
        }
        let point = storage.head
        // A row's parent has an id that is 181 smaller or 126 larger.
        let insertion = try await run(
            """
            INSERT INTO a(id, a) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 306)
            SELECT i * 181 % 307, nullif((i - 1) * 181 % 307, 0) FROM n ORDER BY 1
            """, storage)
        let changed = try await changedRows()
        let report =
            try await restores
            ? storage.engine.restore([], to: .position(point), policy: .abort, metadata: CommitMetadata())
            : storage.revert(insertion, onConflict: .abort)
        #expect(report.outcome.deleted == 306)
        // In rounds that delete one or two rows each it would be ten times as many.
        #expect(try await changedRows() - changed < 5_000)
        #expect(try await storage.verify().isSound)
    }

    /// A restored row gets its unique value back from a later one, to which another row refers by then.
    @Test(
        "A row stays under a unique value that moves to another row",
        arguments: ["NO ACTION", "RESTRICT", "CASCADE", "SET NULL"], ConflictPolicy.allCases)
    func uniqueValueThatMoves(action: String, policy: ConflictPolicy) async throws {
        let (storage, point) = try await openWithMovedValue(action)
        let report = try await storage.engine.restore(
            [], to: .position(point), policy: policy, metadata: CommitMetadata())
        #expect(report.outcome.conflicts.isEmpty)
        #expect(try await referringRows(storage) == ["a1 x", "b7 x"])
        #expect(try await storage.verify().isSound)
    }

    /// Overwriting deletes the later row with those that refer to it, because one of these can't stay.
    @Test("Rows that overwriting deletes or changes with others are restored", arguments: ["CASCADE", "SET NULL"])
    func restoredAfterOverwriting(action: String) async throws {
        let (storage, point) = try await openWithMovedValue(action)
        try await run("INSERT INTO a(id, u) VALUES (3, 'y'); INSERT INTO c(id, u) VALUES (9, 'y')", storage)
        let report = try await storage.engine.restore(
            ["a", "b"], to: .position(point), policy: .overwrite, metadata: CommitMetadata())
        #expect(report.outcome.conflicts.isEmpty)
        #expect(try await referringRows(storage) == ["a1 x", "b7 x"])
        #expect(try await storage.verify().isSound)
    }

    /// A store in which `b7` refers to the value `x` of `a1` at a point, and later to that of `a2`.
    private func openWithMovedValue(_ action: String) async throws -> (Storage, Int64) {
        let reference = "REFERENCES a(u) ON DELETE \(action) DEFERRABLE INITIALLY DEFERRED"
        let storage = try openTable(
            """
            CREATE TABLE a(id INTEGER PRIMARY KEY, u TEXT UNIQUE);
            CREATE TABLE b(id INTEGER PRIMARY KEY, u TEXT \(reference));
            CREATE TABLE c(id INTEGER PRIMARY KEY, u TEXT \(reference));
            """, adopting: ["a", "b", "c"])
        try await run("INSERT INTO a(id, u) VALUES (1, 'x'); INSERT INTO b(id, u) VALUES (7, 'x')", storage)
        let point = storage.head
        try await run("UPDATE a SET u = 'z'; INSERT INTO a(id, u) VALUES (2, 'x')", storage)
        return (storage, point)
    }

    private func referringRows(_ storage: Storage) async throws -> [String] {
        try await storage.read { db in
            try String.fetchAll(
                db,
                sql: """
                    SELECT 'a' || id || ' ' || u FROM a UNION ALL
                    SELECT 'b' || id || ' ' || coalesce(u, '') FROM b ORDER BY 1
                    """)
        }
    }
}
