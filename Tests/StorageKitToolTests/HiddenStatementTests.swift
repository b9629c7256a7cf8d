import Foundation
import GRDB
import StorageCore
import TestSupport
import Testing

@testable import StorageKitTool
@testable import StorageLog

/// A file's own SQL runs nothing but what creates its objects: SQLite ignores what follows the first statement of a text in its
/// schema, and doesn't read the catalog's texts at all.
struct HiddenStatementTests {
    /// Another file of the user's, whose row is gone once a hidden statement has run.
    private struct Victim {
        let path: String
        var attach: String { "ATTACH '\(path)' AS victim" }
        static let delete = "DELETE FROM victim.secrets"
        /// What follows a statement.
        var hidden: String { "; \(attach); \(Self.delete)" }

        init(in folder: TemporaryFolder) throws {
            path = folder.path("victim.db")
            let queue = try DatabaseQueue(path: path)
            try queue.write { try $0.execute(sql: "CREATE TABLE secrets(a); INSERT INTO secrets VALUES (1)") }
            try queue.close()
        }

        func isUntouched() throws -> Bool {
            try DatabaseQueue(path: path).read { try Int.fetchOne($0, sql: "SELECT count(*) FROM secrets") } == 1
        }
    }

    private static let objects = """
        CREATE TABLE t(id INTEGER PRIMARY KEY, v); CREATE INDEX i ON t(v); CREATE VIEW w AS SELECT v FROM t;
        CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT 1; END; INSERT INTO t VALUES (1, 'a');
        """

    /// Changes a file as a program can that gives itself the engine's function.
    private func meddle(_ path: String, _ body: (GRDB.Database) throws -> Void) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.write { db in
            db.add(function: DatabaseFunction("storage_engine", argumentCount: 0) { _ in 1 })
            try body(db)
        }
        try queue.close()
    }

    private func append(_ text: String, to object: String, in path: String) throws {
        try meddle(path) { db in
            try db.execute(sql: "PRAGMA writable_schema = ON")
            try db.execute(
                sql: "UPDATE sqlite_schema SET sql = sql || ? WHERE name = ?", arguments: [text, object])
        }
    }

    private func appendToDefinition(_ statements: [String], in path: String) throws {
        try meddle(path) { db in
            for statement in statements {
                try db.execute(
                    sql: "UPDATE storage_catalog SET definition = json_insert(definition, '$[#]', ?) WHERE name = 't'",
                    arguments: [statement])
            }
        }
    }

    @Test(
        "Adopting runs nothing that follows an object's statement",
        arguments: ["table \"t\"", "index \"i\"", "view \"w\"", "trigger \"g\""],
        [["--dry-run"], ["--in-place", "--yes"], []])
    func adopting(object: String, way: [String]) throws {
        let folder = try TemporaryFolder()
        let victim = try Victim(in: folder)
        let database = folder.path("plain.db")
        try meddle(database) { try $0.execute(sql: Self.objects) }
        let name = String(object.split(separator: "\"")[1])
        try append(victim.hidden, to: name, in: database)
        let store = way.contains("--in-place") ? [] : ["-s", folder.path("app.sqlite")]
        let outcome = try ToolProcess.run(["adopt", database] + store + way, store: nil)
        #expect(outcome.status == 5, "\(outcome)")
        #expect(outcome.errors.contains(object), "\(outcome.errors)")
        #expect(try victim.isUntouched())
        #expect(!FileManager.default.fileExists(atPath: folder.path("app.sqlite")))
    }

    /// The statement of a view is run to read the past; a table that hasn't changed since is read itself.
    @Test(
        "Reading the past runs nothing that follows a view's or a table's statement",
        arguments: [("w", true), ("t", false)])
    func readingPast(object: String, isRun: Bool) async throws {
        let folder = try TemporaryFolder()
        let victim = try Victim(in: folder)
        let store = try DeclaredImportTests.adopt(Self.objects, in: folder, as: "app")
        try append(victim.hidden, to: object, in: store)
        let past = try ToolProcess.run(["at", "head", "SELECT * FROM t"], store: store)
        #expect(past.status == (isRun ? 5 : 0), "\(past)")
        #expect(past.errors.contains("\"\(object)\"") == isRun, "\(past.errors)")
        let client = try await MCPClient(store)
        let answer = try await client.call("at", ["point": "head", "sql": "SELECT * FROM t"])
        #expect(answer.isError == isRun)
        #expect(answer.text.contains("isn't one statement that creates it") == isRun, "\(answer.text)")
        let verified = try ToolProcess.run(["verify"], store: store)
        #expect(verified.status == 5, "\(verified.output)")
        #expect(verified.output.contains("\(object) isn't one statement that creates it"), "\(verified.output)")
        for command in [["sql", "SELECT * FROM w"], ["diff", "@0", "head"], ["schema"], ["doctor"], ["export"]] {
            _ = try ToolProcess.run(command, store: store)
        }
        #expect(try victim.isUntouched())
    }

    /// Statements in the catalog that aren't definitions of the table, or that hide others.
    @Test(
        "Restoring and rebuilding run nothing of the catalog but definitions",
        arguments: [
            "whole", "CREATE INDEX i2 ON t(v)", "CREATE TRIGGER g2 AFTER INSERT ON t BEGIN SELECT 1; END",
        ], [["restore"], ["rebuild", "--yes"], ["doctor", "--fix", "--yes"]])
    func catalogStatements(beginning: String, command: [String]) throws {
        let folder = try TemporaryFolder()
        let victim = try Victim(in: folder)
        let store = try DeclaredImportTests.adopt(Self.objects, in: folder, as: "app")
        let hidden = beginning == "whole" ? [victim.attach, Victim.delete] : [beginning + victim.hidden]
        try appendToDefinition(hidden, in: store)
        let isRestore = command == ["restore"]
        let new = folder.path("new.sqlite")
        let outcome = try ToolProcess.run(
            isRestore ? ["restore", store, "-o", new] : command, store: isRestore ? nil : store)
        #expect(outcome.status == 5, "\(outcome)")
        #expect((outcome.output + outcome.errors).contains("index or trigger of \"t\""), "\(outcome)")
        #expect(try victim.isUntouched())
        #expect(!FileManager.default.fileExists(atPath: new))
    }

    /// The statements may be given to SQLite's shell.
    @Test("A difference writes no statement that the catalog hides")
    func difference() throws {
        let folder = try TemporaryFolder()
        let victim = try Victim(in: folder)
        let store = try DeclaredImportTests.adopt(Self.objects, in: folder, as: "app")
        let whole = try ToolProcess.run(["diff", "@0", "head", "--format", "sql"], store: store)
        #expect(whole.output.contains("CREATE INDEX i ON t(v);"), "\(whole)")
        try appendToDefinition(["CREATE INDEX i2 ON t(v)\(victim.hidden)"], in: store)
        let outcome = try ToolProcess.run(["diff", "@0", "head", "--format", "sql"], store: store)
        #expect(!outcome.output.contains("ATTACH"), "\(outcome)")
        #expect(outcome.status == 5, "\(outcome)")
    }

    @Test("A view that can't be read in the past prevents nothing")
    func brokenView() throws {
        let folder = try TemporaryFolder()
        let store = try DeclaredImportTests.adopt(
            "CREATE VIEW v AS SELECT * FROM nope; \(Self.objects)", in: folder, as: "app")
        let past = try ToolProcess.run(["at", "head", "SELECT v FROM w", "--format", "jsonl"], store: store)
        #expect(past.output == "{\"v\":\"a\"}\n", "\(past)")
    }
}
