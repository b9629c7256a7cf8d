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
}
