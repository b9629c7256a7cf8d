import Foundation
import GRDB
import StorageCore
import StorageHistory
import StorageMaintenance
import TestSupport
import Testing

@testable import StorageLog

/// The SQL of a schema's object is run only if it is one statement that creates this object.
@Suite struct SchemaStatementTests {
    private func refusal(_ sql: String, _ kind: SchemaStatement.Kind) -> StorageError.Code? {
        let error = #expect(throws: StorageError.self) { try SchemaStatement(sql, creating: kind, named: "x") }
        return error?.code
    }

    private static let kept: [(sql: String, kind: SchemaStatement.Kind)] = [
        ("CREATE TABLE x /*d*/ (a, b TEXT DEFAULT ';') STRICT", .table),
        ("CREATE TABLE x \u{FEFF}(a)", .table),
        ("CREATE TABLE 'x'(a)", .table), ("create table \"X\"(a) ; -- the end; or not", .table),
        ("CREATE TABLE [x](a, /* ; */ `b;` CHECK (b <> ';')) WITHOUT ROWID;; /* ; */", .table),
        ("CREATE VIRTUAL TABLE x /*h*/ using fts5(a, tokenize = 'trigram')", .virtualTable),
        ("CREATE INDEX x ON t(a)", .index), ("CREATE UNIQUE INDEX \"x\" on t(a) where a > ';' /*z*/", .index),
        ("CREATE VIEW x/*c*/as select 1", .view), ("CREATE VIEW x(a) as select 1 /* c */", .view),
        ("CREATE TRIGGER x insert on t begin select ';end;'; end", .trigger),
        (
            """
            CREATE TRIGGER x /*k*/ after update of a,b on main.t begin
            select case when 1 then 2 end; update t set a = case a when 1 then 2 end; end; -- ;
            """, .trigger
        ),
        ("CREATE TRIGGER x INSTEAD OF DELETE ON v BEGIN SELECT 1; END", .trigger),
    ]

    @Test("What SQLite keeps is accepted", arguments: kept)
    func keptBySQLite(sql: String, kind: SchemaStatement.Kind) throws {
        let statement = try SchemaStatement(sql, creating: kind, named: "x")
        #expect(statement.sql == sql)
        #expect(statement.kind == kind)
        #expect(statement.name.lowercased() == "x")
    }

    private static let followed: [(sql: String, kind: SchemaStatement.Kind)] = [
        ("CREATE TABLE x(a); ATTACH 'p' AS p", .table), ("CREATE TABLE x(a);;VACUUM", .table),
        ("CREATE TABLE x(a) /* ; */; /**/ SELECT 1", .table), ("CREATE INDEX x ON t(a)\n;DROP TABLE t", .index),
        ("CREATE VIEW x AS SELECT 1;SELECT 2", .view), ("CREATE VIRTUAL TABLE x USING fts5(a);SELECT 2", .virtualTable),
        ("CREATE TRIGGER x DELETE ON t BEGIN SELECT 1; END; DELETE FROM t", .trigger),
        ("CREATE TRIGGER x DELETE ON t BEGIN SELECT 1; END; SELECT 1; END", .trigger),
        // SQLite skips a byte order mark, and reads nothing behind a NUL.
        ("CREATE TRIGGER x DELETE ON t BEGIN SELECT 1;\u{FEFF}END; DELETE FROM t; SELECT 1; END", .trigger),
        ("CREATE TRIGGER x DELETE ON t BEGIN SELECT 1;\0 y\nEND; DELETE FROM t; SELECT 1; END", .trigger),
    ]

    @Test("A second statement is refused", arguments: followed)
    func secondStatement(sql: String, kind: SchemaStatement.Kind) { #expect(refusal(sql, kind) == .corrupt) }

    private static let other: [(sql: String, kind: SchemaStatement.Kind)] = [
        ("", .table), ("ATTACH 'p' AS p", .table), ("DELETE FROM x", .table), ("CREATE TABLE", .table),
        ("CREATE TABLE x AS SELECT 1", .table), ("CREATE TEMP TABLE x(a)", .table), ("CREATE TABLE p.x(a)", .table),
        ("CREATE TABLE x /**/ . x(a)", .table), ("CREATE TABLE IF NOT EXISTS x(a)", .table),
        ("CREATE TABLE y(a)", .table), ("CREATE VIRTUAL TABLE x USING fts5(a)", .table), ("CREATE VIEW x(a)", .table),
        ("CREATE TABLE x(a, 'b)", .table), ("CREATE TABLE x(a)", .virtualTable), ("CREATE TABLE x(a)", .view),
        ("CREATE TEMP VIEW x AS SELECT 1", .view), ("CREATE VIEW p.x AS SELECT 1", .view),
        ("CREATE INDEX p.x ON t(a)", .index), ("CREATE VIEW x AS SELECT 1", .index),
        ("CREATE TRIGGER p.x DELETE ON t BEGIN SELECT 1; END", .trigger),
        ("CREATE TEMP TRIGGER x DELETE ON t BEGIN SELECT 1; END", .trigger),
        ("CREATE TRIGGER x DELETE ON t BEGIN SELECT 1", .trigger), ("EXPLAIN CREATE TABLE x(a)", .table),
    ]

    @Test("What creates anything else is refused", arguments: other)
    func otherStatement(sql: String, kind: SchemaStatement.Kind) { #expect(refusal(sql, kind) == .corrupt) }

    private static let scripts: [(sql: String, script: String)] = [
        ("CREATE INDEX x ON t(v) -- the end", "CREATE INDEX x ON t(v);"),
        ("CREATE TABLE x(a) /* ", "CREATE TABLE x(a);"),
        ("CREATE TABLE x(\n  a, -- b\n  goal\n); ", "CREATE TABLE x(\n  a, -- b\n  goal\n);"),
        ("CREATE INDEX x ON t(v)\n/ -- c\n.shell ls", "CREATE INDEX x ON t(v) /   .shell ls;"),
        ("CREATE TABLE x(a DEFAULT '\n/\n',\nGo\n)", "CREATE TABLE x(a DEFAULT '\n/\n', Go );"),
    ]

    @Test("SQLite's shell splits no statement of a script, and ends it where it ends", arguments: scripts)
    func script(sql: String, script: String) throws {
        let kind: SchemaStatement.Kind = sql.contains("INDEX") ? .index : .table
        #expect(try SchemaStatement(sql, creating: kind, named: "x").script == script)
    }

    @Test("The error names the object")
    func error() {
        let one = #expect(throws: StorageError.self) {
            try SchemaStatement("CREATE TABLE x(a); VACUUM", creating: .table, .virtualTable, named: "x")
        }
        #expect(one?.message.contains("table \"x\"") == true)
        let other = #expect(throws: StorageError.self) { try SchemaStatement("DELETE FROM t", attachedTo: "t") }
        #expect(other?.message.contains("index or trigger of \"t\"") == true)
    }

    @Test("An index or a trigger of a table can have any name")
    func attached() throws {
        let index = try SchemaStatement("CREATE INDEX \"a\"\"b\" ON t(a)", attachedTo: "t")
        #expect(index.kind == .index)
        #expect(index.name == "a\"b")
        let trigger = try SchemaStatement("CREATE TRIGGER 'c' DELETE ON t BEGIN SELECT 1; END", attachedTo: "t")
        #expect(trigger.kind == .trigger)
        #expect(trigger.name == "c")
    }

    // MARK: Files

    private func rows(_ path: String) throws -> Int? {
        try DatabaseQueue(path: path).read { try Int.fetchOne($0, sql: "SELECT count(*) FROM secrets") }
    }

    /// Another file of the user's, and the statements that would empty it.
    private func victim(_ folder: TemporaryFolder) throws -> (path: String, statements: [String]) {
        let path = folder.path("victim.db")
        try DatabaseQueue(path: path).write {
            try $0.execute(sql: "CREATE TABLE secrets(a); INSERT INTO secrets VALUES (1)")
        }
        return (path, ["ATTACH '\(path)' AS victim", "DELETE FROM victim.secrets"])
    }

    private static let table = "CREATE TABLE t(id INTEGER PRIMARY KEY, v, _position INTEGER NOT NULL DEFAULT 0)"

    @Test("The plan of an adoption runs no statement that the schema hides", arguments: ["t", "w"])
    func adoption(object: String) async throws {
        let folder = try TemporaryFolder()
        let victim = try victim(folder)
        let path = folder.path("plain.db")
        let hidden = "; " + victim.statements.joined(separator: "; ")
        let queue = try DatabaseQueue(path: path)
        try await queue.write { db in
            try db.execute(sql: "CREATE TABLE t(id INTEGER PRIMARY KEY); CREATE VIEW w AS SELECT id FROM t")
            try db.execute(sql: "PRAGMA writable_schema = ON")
            try db.execute(
                sql: "UPDATE sqlite_schema SET sql = sql || ? WHERE name = ?", arguments: [hidden, object])
        }
        try queue.close()
        let adoption = DatabaseAdoption(path, tables: [], metadata: CommitMetadata())
        let error = #expect(throws: StorageError.self) { try adoption.plan() }
        #expect(error?.code == .corrupt)
        #expect(error?.message.contains("\"\(object)\"") == true)
        #expect(try rows(victim.path) == 1)
    }

    @Test("A rebuild runs no statement that the catalog hides")
    func rebuild() async throws {
        let folder = try TemporaryFolder()
        let victim = try victim(folder)
        let path = folder.path()
        let engine = try StorageEngine.open(path: path, configuration: TestStore.configuration())
        try await engine.adopt("t", Self.table)
        try await engine.close()
        let queue = try DatabaseQueue(path: path)
        try await queue.write { db in
            for statement in ["DELETE FROM t"] + victim.statements {
                try db.execute(
                    sql: "UPDATE storage_catalog SET definition = json_insert(definition, '$[#]', ?) WHERE name = 't'",
                    arguments: [statement])
            }
        }
        try queue.close()
        let again = try StorageEngine.open(path: path, configuration: TestStore.configuration())
        #expect(await code { try await Rebuild(again, ["t"]).run() } == .corrupt)
        try await again.close()
        #expect(try rows(victim.path) == 1)
    }

    @Test("Where the SQL of a file runs, nothing is attached")
    func attachments() async throws {
        let folder = try TemporaryFolder()
        let other = folder.path("other.db")
        let made = try DatabaseFile(folder.path("made.db"), .making)
        #expect(throws: StorageError.self) { try made.run("ATTACH '\(other)' AS other; CREATE TABLE other.t(a)") }
        #expect(throws: StorageError.self) { try made.run("VACUUM INTO '\(other)'") }
        let engine = try TestStore.inMemory()
        try await engine.adopt("t", Self.table)
        let position = engine.committed.position
        try await engine.read { db in
            let snapshot = try MaterializedSnapshot(at: position, of: db, schema: .current)
            try snapshot.prepare(tables: ["t"], from: db)
            for sql in ["ATTACH '\(other)' AS other", "VACUUM INTO '\(other)'"] {
                #expect(throws: DatabaseError.self) {
                    try snapshot.database.writeWithoutTransaction { try $0.execute(sql: sql) }
                }
            }
        }
        #expect(!FileManager.default.fileExists(atPath: other))
    }
}
