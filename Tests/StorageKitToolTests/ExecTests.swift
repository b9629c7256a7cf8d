import Foundation
import GRDB
import StorageCore
import TestSupport
import Testing

@testable import StorageLog

/// `exec` changes rows as one commit, and shows before what it would do.
@Suite struct ExecTests {
    private static let statement = "UPDATE users SET name = 'Anna C.' WHERE id = 7"

    @Test("Statements become a commit with its reason")
    func statementsBecomeCommit() async throws {
        let store = try await SampleStore()
        let outcome = try ToolProcess.run(
            ["exec", Self.statement + "; DELETE FROM seats", "--yes", "-m", "ticket 7"], store: store.path)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output.contains("1 row updated, 2 rows deleted"), "\(outcome.output)")
        let log = try ToolProcess.run(["log", "-1", "-p"], store: store.path)
        #expect(log.output.contains("ticket 7"), "\(log.output)")
        #expect(log.output.contains("Anna B. → Anna C."), "\(log.output)")
        #expect(try ToolProcess.run(["verify"], store: store.path).status == 0)
        #expect(try ToolProcess.run(["undo", "--yes"], store: store.path).status == 0)
        let names = try ToolProcess.run(["sql", "SELECT name FROM users", "--format", "csv"], store: store.path)
        #expect(names.output == "name\nAnna B.\n")
    }

    @Test("A dry run shows the rows and changes nothing")
    func dryRunChangesNothing() async throws {
        let store = try await SampleStore()
        let before = try ToolProcess.run(["export"], store: store.path).output
        let outcome = try ToolProcess.run(["exec", Self.statement, "--dry-run"], store: store.path)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output.contains("~ users/7"), "\(outcome.output)")
        #expect(outcome.output.contains("Would be done: 1 row updated."), "\(outcome.output)")
        #expect(try ToolProcess.run(["export"], store: store.path).output == before)
    }

    /// The commit would refuse it at its end.
    @Test(
        "A dry run refuses what can't be stored",
        arguments: [
            "INSERT INTO o(k) VALUES (CAST(x'ff' AS TEXT))", "INSERT INTO o(k) VALUES (NULL)",
            "INSERT INTO o(k, v) VALUES ('a', 'b' || char(0))",
        ])
    func dryRunRefusesValues(_ sql: String) throws {
        let folder = try TemporaryFolder()
        let store = try DeclaredImportTests.adopt("CREATE TABLE o(k TEXT PRIMARY KEY, v)", in: folder, as: "app")
        let tried = try ToolProcess.run(["exec", sql, "--dry-run"], store: store)
        let done = try ToolProcess.run(["exec", sql, "--yes"], store: store)
        #expect(tried.status == 2, "\(tried.output)\(tried.errors)")
        #expect(done.status == 2, "\(done.output)\(done.errors)")
        #expect(tried.errors == done.errors)
    }

    /// Without a terminal there is no one to ask, so a script must say that it means it.
    @Test("A script must confirm")
    func scriptMustConfirm() async throws {
        let store = try await SampleStore()
        let outcome = try ToolProcess.run(["exec", Self.statement], store: store.path)
        #expect(outcome.status == 2, "\(outcome.errors)")
        #expect(outcome.errors.contains("--yes"), "\(outcome.errors)")
        let names = try ToolProcess.run(["sql", "SELECT name FROM users", "--format", "csv"], store: store.path)
        #expect(names.output == "name\nAnna B.\n")
    }

    @Test("What fails half-way changes nothing, and the schema isn't changed")
    func failuresChangeNothing() async throws {
        let store = try await SampleStore()
        for sql in [
            Self.statement + "; INSERT INTO users(id) VALUES (7)", Self.statement + "; SELEC 1",
            "ALTER TABLE users ADD COLUMN age", "DROP TABLE users", " ; ",
        ] {
            let outcome = try ToolProcess.run(["exec", sql, "--yes"], store: store.path)
            #expect([2, 7].contains(outcome.status), "\(sql): \(outcome.output)\(outcome.errors)")
        }
        let names = try ToolProcess.run(["sql", "SELECT * FROM users", "--format", "csv"], store: store.path)
        #expect(names.output == "id,name\n7,Anna B.\n")
        #expect(try ToolProcess.run(["verify"], store: store.path).status == 0)
    }

    @Test("Tags, notes and operations aren't changed", arguments: ["--yes", "--dry-run"])
    func storesOwnRecords(option: String) async throws {
        let store = try await SampleStore()
        #expect(try ToolProcess.run(["tag", "kept"], store: store.path).status == 0)
        let before = try ToolProcess.run(["log", "--schema", "-p"], store: store.path).output
        for sql in [
            "INSERT INTO storage_tag(name, position, _position) VALUES ('w w', 777, 0)", "DELETE FROM storage_tag",
            Self.statement + "; UPDATE storage_tag SET position = 1",
        ] {
            let refused = try ToolProcess.run(["exec", sql, option], store: store.path)
            #expect(refused.status == 2, "\(sql): \(refused.output)\(refused.errors)")
            #expect(refused.errors.contains("\"storage_tag\" of the engine"), "\(refused.errors)")
        }
        #expect(try ToolProcess.run(["log", "--schema", "-p"], store: store.path).output == before)
    }

    @Test("Where no row changes, no commit is made")
    func nothingToDo() async throws {
        let store = try await SampleStore()
        let newest = ["log", "-1", "--schema", "--format", "jsonl"]
        let head = try ToolProcess.run(newest, store: store.path).output
        for sql in ["UPDATE users SET name = name", "DELETE FROM users WHERE id = 99"] {
            let outcome = try ToolProcess.run(["exec", sql, "--yes"], store: store.path)
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(outcome.output.contains("Nothing to do"), "\(outcome.output)")
        }
        #expect(try ToolProcess.run(newest, store: store.path).output == head)
    }

    @Test("Changes of tables without history are kept, with changes that are recorded or alone")
    func tablesWithoutHistory() throws {
        let folder = try TemporaryFolder()
        let store = try DeclaredImportTests.adopt(
            """
            CREATE TABLE t(id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 5);
            CREATE TABLE w(id INTEGER PRIMARY KEY, v) WITHOUT ROWID; INSERT INTO w VALUES (1, 1);
            """, in: folder, as: "app")
        func value() throws -> String {
            try ToolProcess.run(["sql", "SELECT v FROM w", "--format", "csv"], store: store).output
        }
        let tried = try ToolProcess.run(["exec", "UPDATE w SET v = 2", "--dry-run"], store: store)
        #expect(tried.output.contains("Would be done: only changes of tables without history."), "\(tried.output)")
        #expect(try value() == "v\n1\n")
        for (sql, stored) in [("UPDATE w SET v = 2", 2), ("UPDATE w SET v = 3; UPDATE t SET a = 5", 3)] {
            let done = try ToolProcess.run(["exec", sql, "--yes"], store: store)
            #expect(done.status == 0, "\(done.errors)")
            #expect(done.output.contains("Done: only changes of tables without history."), "\(done.output)")
            #expect(try value() == "v\n\(stored)\n")
        }
        let both = try ToolProcess.run(["exec", "UPDATE w SET v = 4; UPDATE t SET a = 6", "--yes"], store: store)
        #expect(both.output.contains("1 row updated"), "\(both.output)")
        #expect(try value() == "v\n4\n")
        #expect(try ToolProcess.run(["verify"], store: store).status == 0)
    }

    @Test("Statements that end the transaction are refused, whatever they change", arguments: ["ROLLBACK", "COMMIT"])
    func endOfTransaction(_ ending: String) async throws {
        let store = try await SampleStore()
        for statement in [Self.statement, "SELECT 1"] {
            for option in ["--yes", "--dry-run"] {
                let outcome = try ToolProcess.run(["exec", "\(statement); \(ending)", option], store: store.path)
                #expect(outcome.status == 2, "\(outcome.output)")
                #expect(outcome.errors.contains("A write ended the transaction"), "\(outcome.errors)")
            }
        }
        #expect(try ToolProcess.run(["verify"], store: store.path).status == 0)
    }

    @Test("Statements are read from standard input")
    func standardInput() async throws {
        let store = try await SampleStore()
        let outcome = try ToolProcess.run(
            ["exec", "--yes", "-", "--format", "jsonl"], store: store.path, input: Self.statement)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output.contains(#""dry_run":false,"commit":8,"inserted":0,"updated":1"#), "\(outcome.output)")
    }

    /// With replacement characters, another text would be stored or searched for than was given.
    @Test("Standard input that isn't UTF-8 is refused", arguments: ["exec --yes", "sql"])
    func standardInputIsUTF8(command: String) async throws {
        let store = try await SampleStore()
        let before = try ToolProcess.run(["export"], store: store.path).output
        // The second line ends with FF FE.
        let text = #"UPDATE users SET name =\n '\377\376';\n"#
        let refused = try ToolProcess.shell("printf \"\(text)\" | storagekit \(command) -", store: store.path)
        #expect(refused.status == 2, "\(refused)")
        #expect(refused.errors.contains("Line 2 of standard input isn't UTF-8"), "\(refused.errors)")
        #expect(try ToolProcess.run(["export"], store: store.path).output == before)
    }

    /// SQLite ends a text at its first NUL character, so the statements after it wouldn't be run.
    @Test(
        "Standard input with a NUL character is refused",
        arguments: [#"DELETE FROM users;\n\000DELETE FROM seats"#, #"SELECT 1\n\000"#])
    func standardInputWithNUL(sql: String) async throws {
        let store = try await SampleStore()
        let before = try ToolProcess.run(["export"], store: store.path).output
        for command in ["exec --yes", "exec --dry-run", "sql"] {
            let refused = try ToolProcess.shell("printf '\(sql)' | storagekit \(command) -", store: store.path)
            #expect(refused.status == 2, "\(command): \(refused)")
            #expect(refused.output.isEmpty, "\(command): \(refused)")
            #expect(
                refused.errors.contains("Line 2 of standard input contains a NUL character"), "\(command): \(refused)")
        }
        #expect(try ToolProcess.run(["export"], store: store.path).output == before)
    }

    /// The person who is asked sees what the question is about.
    @Test("The plan is shown before the question")
    func planBeforeQuestion() async throws {
        let store = try await SampleStore()
        let asked = try ToolProcess.onTerminal(["exec", Self.statement], store: store.path, answer: "n\n")
        #expect(asked.status == 1, "\(asked.errors)")
        #expect(asked.output.contains("Anna C."), "\(asked.output)")
        #expect(asked.errors.contains("1 row updated. Continue?"), "\(asked.errors)")
        let undone = try ToolProcess.onTerminal(["undo"], store: store.path, answer: "n\n")
        #expect(undone.output.contains("posts/b"), "\(undone.output)")
    }
}
