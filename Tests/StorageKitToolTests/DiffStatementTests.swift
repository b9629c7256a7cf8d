import Foundation
import GRDB
import TestSupport
import Testing

/// What `diff --format sql` prints makes the tables of one state those of another.
struct DiffStatementTests {
    private static let schema = """
        CREATE TABLE p(code TEXT PRIMARY KEY NOT NULL COLLATE NOCASE, n);
        CREATE TABLE c(id INTEGER PRIMARY KEY, p REFERENCES p(code) ON DELETE CASCADE ON UPDATE CASCADE, v);
        CREATE TABLE notes(id INTEGER PRIMARY KEY, what);
        CREATE TRIGGER "p ""updated" AFTER UPDATE ON p BEGIN INSERT INTO notes(what) VALUES (new.n); END;
        CREATE TRIGGER added/* a comment */AFTER INSERT ON c BEGIN UPDATE p SET n = n + new.v WHERE code = new.p; END;
        INSERT INTO p VALUES ('a', 1), ('b', 2);
        INSERT INTO c VALUES (1, 'a', 10), (2, 'b', 20);
        """
    private static let changes = [
        "UPDATE p SET code = 'A' WHERE code = 'a'", "UPDATE c SET p = 'b' WHERE id = 1; DELETE FROM p WHERE code = 'A'",
        "INSERT INTO c(id, p, v) VALUES (3, 'b', 30)", "DELETE FROM p",
    ]

    private static func rows(_ db: Database) throws -> [String] {
        try ["code, n FROM p", "id, p, v FROM c", "id, what FROM notes"].flatMap {
            try Row.fetchAll(db, sql: "SELECT \($0) ORDER BY 1")
        }
        .map { row in row.databaseValues.map { "\($0)" }.joined(separator: ", ") }
    }

    private static func triggers(_ db: Database) throws -> [String] {
        try String.fetchAll(db, sql: "SELECT sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY 1")
    }

    /// Their changes are among the differences.
    @Test("Neither foreign keys nor triggers change rows again", arguments: [true, false])
    func foreignKeysAndTriggers(areEnforced: Bool) throws {
        let folder = try TemporaryFolder()
        let (database, store) = (folder.path("shop.db"), folder.path())
        let source = try DatabaseQueue(path: database)
        try source.write { try $0.execute(sql: Self.schema) }
        let triggers = try source.read(Self.triggers)
        var states = [try source.read(Self.rows)]
        try source.close()
        try #require(try ToolProcess.run(["adopt", database, "-s", store], store: nil).status == 0)
        for sql in Self.changes {
            let outcome = try ToolProcess.run(["exec", sql, "--yes"], store: store)
            try #require(outcome.status == 0, "\(outcome.errors)")
            let reader = try DatabaseQueue(path: store)
            states.append(try reader.read(Self.rows))
            try reader.close()
        }
        for (from, to) in [(0, 1), (1, 2), (2, 3), (3, 4), (0, 3), (4, 0), (3, 1)] {
            let copy = try DatabaseQueue()
            for range in [["@0", "t:\(from + 1)"], ["t:\(from + 1)", "t:\(to + 1)"]] {
                let statements = try ToolProcess.run(["diff"] + range + ["--format", "sql"], store: store).output
                try copy.writeWithoutTransaction { db in
                    try db.execute(sql: "PRAGMA foreign_keys = \(areEnforced ? "ON" : "OFF")")
                    try db.execute(sql: statements)
                }
            }
            #expect(try copy.read(Self.rows) == states[to], "t:\(from + 1)..t:\(to + 1)")
            #expect(try copy.read(Self.triggers) == triggers, "t:\(from + 1)..t:\(to + 1)")
        }
    }
}
