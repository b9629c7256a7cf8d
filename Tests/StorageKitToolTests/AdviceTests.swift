import Foundation
import GRDB
import StorageLog
import TestSupport
import Testing

/// What the tool says to type next works when it is typed, and what it refuses it refuses for a reason.
struct AdviceTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func adopted(_ sql: String, _ name: String = "store.sqlite") throws -> String {
        let database = folder.path("\(name).db")
        let queue = try DatabaseQueue(path: database)
        try queue.write { try $0.execute(sql: sql) }
        try queue.close()
        let outcome = try ToolProcess.run(["adopt", database, "-s", folder.path(name)], store: nil)
        try #require(outcome.status == 0, "\(outcome.errors)")
        return folder.path(name)
    }

    @Test("Advice names the store that was named")
    func adviceNamesStore() throws {
        let store = try adopted("CREATE TABLE t(id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1)", "a store's.sqlite")
        let outcome = try ToolProcess.run(["show", "t:99", "-s", store], store: nil)
        #expect(outcome.status == 3)
        let advice = try #require(outcome.errors.components(separatedBy: "Type: ").last).trimmingCharacters(
            in: .newlines)
        let command = advice.replacing("storagekit ", with: "\"$0\" ", maxReplacements: 1)
        let typed = try ToolProcess.shell(command, store: nil)
        #expect(typed.status == 0, "\(command): \(typed.errors)")
    }

    /// Runs the command that an error ends with, in a shell.
    private func typed(_ errors: String) throws -> ToolProcess.Outcome {
        let advice = try #require(errors.components(separatedBy: ": storagekit ").last)
        return try ToolProcess.shell("\"$0\" \(advice.trimmingCharacters(in: .newlines))", store: nil)
    }

    @Test("A table from before the first commit leads to its first state")
    func tableBeforeHistory() throws {
        let store = try adopted("CREATE TABLE t(id INTEGER PRIMARY KEY); INSERT INTO t VALUES (5)")
        try #require(
            try ToolProcess.run(["exec", "DELETE FROM t", "--reason", "test", "--yes", "-s", store], store: nil)
                .status == 0)
        for words in [["-2h", "t"], ["-2h", "SELECT id FROM t"], ["@0", "t", "--each", "head"]] {
            let outcome = try ToolProcess.run(["at"] + words + ["-s", store], store: nil)
            #expect(outcome.status == 3, "\(words): \(outcome.errors)")
            #expect(
                outcome.errors.contains("why: Its history begins with the first commit, t:1, at 20"),
                "\(outcome.errors)")
            #expect(!outcome.errors.contains("--schema"), "\(outcome.errors)")
            let first = try typed(outcome.errors)
            #expect(first.output.contains("\n5"), "\(outcome.errors)\(first.output)\(first.errors)")
        }
        let list = try ToolProcess.run(["at", "-2h", "-s", store], store: nil)
        #expect(list.output.hasPrefix("at @0, before the first commit, t:1 (20"), "\(list.output)")
        // A table that never was has no first state.
        #expect(
            try ToolProcess.run(["at", "-2h", "nothing", "-s", store], store: nil).errors.contains("The tables are t."))
    }

    @Test("A suggested command works for a table whose name begins with a hyphen")
    func hyphenatedTable() throws {
        let store = try adopted("CREATE TABLE \"-t\"(id INTEGER PRIMARY KEY); INSERT INTO \"-t\" VALUES (5)")
        try #require(
            try ToolProcess.run(["exec", "DELETE FROM \"-t\"", "--reason", "test", "--yes"], store: store).status == 0)
        for words in [
            ["at", "-2h", "--", "-t"], ["blame", "--", "-t/5"], ["schema", "--at", "@0", "--", "-t"],
            ["restore-state", "-2h", "--dry-run", "--", "-t"], ["history", "--", "-t/7"],
        ] {
            let outcome = try ToolProcess.run(["-s", store] + words, store: nil)
            #expect(outcome.status == 3, "\(words): \(outcome.errors)")
            let next = try typed(outcome.errors)
            #expect(next.status == 0, "\(outcome.errors)\(next.errors)")
        }
    }

    @Test("A renamed table is found under its former name, a new one where it was created")
    func tableOfAnotherPoint() async throws {
        let engine = try SampleStore.open(folder.path())
        let create = { @Sendable (name: String) in
            "CREATE TABLE \(name)(id INTEGER PRIMARY KEY, _position INTEGER NOT NULL DEFAULT 0)"
        }
        _ = try await engine.commit(CommitMetadata()) { writer, db in
            try writer.adopt(db, "users", create("users"))
            try db.execute(sql: "INSERT INTO users(id) VALUES (7)")
        }
        _ = try await engine.commit(CommitMetadata()) { _, db in
            try db.execute(sql: "ALTER TABLE users RENAME TO people")
        }
        _ = try await engine.commit(CommitMetadata()) { writer, db in
            try writer.adopt(db, "orders", create("orders"))
            try db.execute(sql: "INSERT INTO orders(id) VALUES (5)")
        }
        try await engine.close()
        let renamed = try ToolProcess.run(["at", "t:1", "SELECT id FROM people", "-s", folder.path()], store: nil)
        #expect(renamed.status == 3)
        #expect(renamed.errors.contains("It is called users there."), "\(renamed.errors)")
        let current = try ToolProcess.run(
            ["at", "t:1", "SELECT id FROM people", "--schema", "current", "-s", folder.path()], store: nil)
        #expect(current.output.contains("7"), "\(current.errors)")
        let later = try ToolProcess.run(["at", "t:1", "SELECT id FROM orders", "-s", folder.path()], store: nil)
        #expect(later.errors.contains("why: Its history begins with t:3, at 2024-05-01T10:00:00Z."), "\(later.errors)")
        #expect(try typed(later.errors).output.contains("\n5"), "\(later.errors)")
    }

    @Test("The schema of a point before a table leads to where it is")
    func schemaBeforeTable() async throws {
        let store = try adopted("CREATE TABLE \"t t\"(id INTEGER PRIMARY KEY, name TEXT)", "a store's.sqlite")
        for point in ["@0", "-2h"] {
            let early = try ToolProcess.run(["schema", "t t", "--at", point, "-s", store], store: nil)
            #expect(early.status == 3)
            #expect(early.errors.contains("doesn't exist yet at"), "\(early.errors)")
            #expect(try typed(early.errors).output.contains("name  TEXT"), "\(early.errors)")
        }
        let engine = try SampleStore.open(folder.path())
        _ = try await engine.commit(CommitMetadata()) { writer, db in
            try writer.adopt(
                db, "users", "CREATE TABLE users(id INTEGER PRIMARY KEY, _position INTEGER NOT NULL DEFAULT 0)")
        }
        _ = try await engine.commit(CommitMetadata()) { _, db in
            try db.execute(sql: "ALTER TABLE users RENAME TO people")
        }
        try await engine.close()
        let renamed = try ToolProcess.run(["schema", "people", "--at", "t:1", "-s", folder.path()], store: nil)
        #expect(renamed.errors.contains("It is called users there."), "\(renamed.errors)")
        #expect(try typed(renamed.errors).output.contains("table users"), "\(renamed.errors)")
        let never = try ToolProcess.run(["schema", "nothing", "--at", "t:1", "-s", folder.path()], store: nil)
        #expect(never.errors.contains("The tables are users."), "\(never.errors)")
    }

    @Test("A time before the first commit is refused by what goes back to it, with the first commit")
    func restoreBeforeHistory() throws {
        let store = try adopted("CREATE TABLE t(id INTEGER PRIMARY KEY); INSERT INTO t VALUES (5)", "a store's.sqlite")
        let copy = folder.path("a copy.sqlite")
        for way in [["--dry-run"], []] {
            let outcome = try ToolProcess.run(["restore", store, "--to", "-2h", "-o", copy] + way, store: nil)
            #expect(outcome.status == 3, "\(outcome.errors)")
            #expect(!FileManager.default.fileExists(atPath: copy), "\(outcome.errors)")
            #expect(outcome.errors.contains("why: The first is t:1, of 20"), "\(outcome.errors)")
            guard way.isEmpty else { continue }
            let restored = try typed(outcome.errors)
            #expect(restored.output.contains("Restored in \(copy)"), "\(restored.errors)")
            #expect(try ToolProcess.run(["sql", "SELECT id FROM t"], store: copy).output.contains("5"))
        }
        let state = try ToolProcess.run(["restore-state", "-2h", "t", "--dry-run", "-s", store], store: nil)
        #expect(state.status == 3, "\(state.errors)")
        #expect(state.errors.contains("The first is t:1"), "\(state.errors)")
        #expect(try typed(state.errors).output.contains("Nothing to do"), "\(state.errors)")
        // Who means it writes it.
        #expect(
            try ToolProcess.run(["restore", store, "--to", "@0", "-o", copy, "--force"], store: nil).status == 0)
        #expect(
            try ToolProcess.run(["restore-state", "@0", "--dry-run"], store: store).output.contains("1 row deleted"))
    }

    @Test("What is advised after a wrong point of restore reads the backup")
    func restoreNamesBackup() throws {
        let store = try adopted("CREATE TABLE t(id INTEGER PRIMARY KEY); INSERT INTO t VALUES (5)", "a store's.sqlite")
        for point in ["t:99", "@9999"] {
            let outcome = try ToolProcess.run(
                ["restore", store, "--to", point, "-o", folder.path("new.sqlite")], store: nil)
            #expect(outcome.status == 3)
            let shown = try typed(outcome.errors)
            #expect(shown.status == 0, "\(outcome.errors)\(shown.errors)")
            #expect(shown.output.contains("t:1"), "\(outcome.errors)\(shown.errors)")
        }
    }

    @Test("Advice about a table without a history, and words that aren't understood, name the store too")
    func adviceCanBePasted() throws {
        let path = folder.path("a store's.sqlite")
        let queue = try DatabaseQueue(path: folder.path("lines.db"))
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE t(id INTEGER PRIMARY KEY); CREATE TABLE "my lines"(line TEXT);
                    INSERT INTO t VALUES (1); INSERT INTO "my lines" VALUES ('first')
                    """)
        }
        try queue.close()
        _ = try ToolProcess.run(["adopt", folder.path("lines.db"), "-s", path], store: nil)
        let lines = try ToolProcess.run(["blame", "my lines", "-s", path], store: nil)
        #expect(try typed(lines.errors).output.contains("first"), "\(lines.errors)")
        let undo = try ToolProcess.run(["undo", "t:1", "-s", path], store: nil)
        #expect(
            try typed(undo.errors.trimmingCharacters(in: .newlines) + " --dry-run").output.contains("1 row deleted"),
            "\(undo.errors)")
        let past = try ToolProcess.run(["at", "head", "SELECT * FROM history_t", "--store=\(path)"], store: nil)
        #expect(try typed(past.errors).output.contains("insert"), "\(past.errors)")
        let write = try ToolProcess.run(["sql", "UPDATE t SET id = 2", "-s", path], store: nil)
        #expect(try typed(write.errors).output.contains("Would be done"), "\(write.errors)")
        let wrong = try ToolProcess.run(["exec", "DELETE FRM t", "-s", path], store: nil)
        #expect(wrong.errors.contains("near \"FRM\": syntax error."), "\(wrong.errors)")
        #expect(!wrong.errors.contains("why:"), "\(wrong.errors)")
    }

    @Test("A misspelt column in SQL is compared with those of the tables that it names")
    func missingColumns() throws {
        let store = try adopted(
            "CREATE TABLE t(id INTEGER PRIMARY KEY, price INT); CREATE TABLE u(name TEXT PRIMARY KEY)")
        for words in [
            ["sql", "SELECT prize FROM t"], ["at", "head", "SELECT t.prize FROM t"],
            ["log", "t", "--where", "prize > 1"],
            ["exec", "UPDATE t SET prize = 1", "--yes"], ["exec", "INSERT INTO t(prize) VALUES (1)", "--yes"],
            ["explain", "SELECT prize FROM t"], ["sql", "SELECT prize FROM history_t"],
        ] {
            let outcome = try ToolProcess.run(words, store: store)
            #expect(outcome.status == 2, "\(words): \(outcome.output)")
            #expect(outcome.errors.contains("Did you mean price?"), "\(words): \(outcome.errors)")
            #expect(!outcome.errors.contains("SQLite"), "\(outcome.errors)")
            #expect(!outcome.errors.contains("name"), "\(outcome.errors)")
        }
        let condition = try ToolProcess.run(["log", "t", "--where", "price >"], store: store)
        #expect(condition.status == 2, "\(condition.errors)")
        #expect(!condition.errors.contains("SELECT"), "\(condition.errors)")
    }

    @Test("The remedy belongs to the mistake")
    func remedies() throws {
        let store = try adopted(
            """
            CREATE TABLE "my table"(id INTEGER PRIMARY KEY); CREATE TABLE "a..b"(id INTEGER PRIMARY KEY);
            INSERT INTO "my table" VALUES (1); INSERT INTO "a..b" VALUES (1)
            """)
        let mistakes: [([String], Int32, String)] = [
            (["at", "t:1~", "SELECT 1"], 2, "Did you mean t:0?"),
            (["at", "tomorrow", "SELECT 1"], 2, "Points look like"),
            (["at", "t:1", "SELECT", "1"], 2, "in quotes"), (["at", "SELECT", "1"], 2, "in quotes"),
            (["diff", "t:0", "t:1", "t:1"], 2, "diff compares two points, and 't:1' is a third."),
            (["history", "-dash/-1"], 2, "Put -- before it: -- -dash/-1"),
            (["at", "t:1", "my tabel"], 3, "Did you mean my table?"),
            (["log", "a..b"], 2, "--table a..b"),
        ]
        for (words, status, answer) in mistakes {
            let outcome = try ToolProcess.run(words + ["-s", store], store: nil)
            #expect(outcome.status == status, "\(words): \(outcome.output)\(outcome.errors)")
            #expect(outcome.errors.contains(answer), "\(words): \(outcome.errors)")
        }
        let found = try ToolProcess.run(["log", "--table", "a..b", "-s", store], store: nil)
        #expect(found.status == 0, "\(found.errors)")
    }

    @Test("A store that may not be read is reported as such")
    func unreadableStore() throws {
        let store = try adopted("CREATE TABLE t(id INTEGER PRIMARY KEY)")
        try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: store)
        // Root may read every file, but for a process without these capabilities.
        let limits = getuid() == 0 ? "setpriv --bounding-set -dac_override,-dac_read_search " : ""
        let outcome = try ToolProcess.shell("\(limits)\"$0\" log", store: store)
        #expect(outcome.status == 4)
        #expect(outcome.errors.contains("can't be read: Permission denied."), "\(outcome.errors)")
    }

    /// What was there when the history began is nobody's change.
    @Test("Undo skips an adoption")
    func undoSkipsAdoption() throws {
        let store = try adopted("CREATE TABLE t(id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1)")
        let outcome = try ToolProcess.run(["undo", "--yes"], store: store)
        #expect(outcome.status == 3, "\(outcome.errors)")
        #expect(outcome.errors.contains("nothing to undo"), "\(outcome.errors)")
        #expect(
            try ToolProcess.run(["revert", "t:1", "--dry-run"], store: store).output.contains("1 row deleted"))
    }

    @Test("Tables without a history are named wherever a store is called sound")
    func tablesWithoutHistory() throws {
        let path = folder.path("mixed.sqlite")
        let queue = try DatabaseQueue(path: folder.path("mixed.db"))
        try queue.write { db in
            try db.execute(
                sql: "CREATE TABLE t(id INTEGER PRIMARY KEY); CREATE TABLE lines(line TEXT); INSERT INTO t VALUES (1)")
        }
        try queue.close()
        // 8: a part of it was done.
        let adoption = try ToolProcess.run(["adopt", folder.path("mixed.db"), "-s", path], store: nil)
        try #require(adoption.status == 8, "\(adoption.errors)")
        let doctor = try ToolProcess.run(["doctor"], store: path)
        #expect(doctor.output.contains("without one: lines"), "\(doctor.output)")
        #expect(doctor.status == 0, "\(doctor.output)")
        #expect(try ToolProcess.run(["verify"], store: path).output.contains("no history: lines"))
        #expect(try ToolProcess.run(["schema"], store: path).output.contains("without history: lines"))
        let blame = try ToolProcess.run(["blame", "lines"], store: path)
        #expect(blame.status == 3)
        #expect(blame.errors.contains("The table \"lines\" has no history."), "\(blame.errors)")
    }

    @Test("Rows behind a failed check can be listed")
    func danglingReferences() throws {
        let store = try adopted(
            """
            CREATE TABLE a(id INTEGER PRIMARY KEY); INSERT INTO a VALUES (1);
            CREATE TABLE b(id INTEGER PRIMARY KEY, a INTEGER REFERENCES a(id)); INSERT INTO b VALUES (5, 1);
            """)
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let queue = try DatabaseQueue(path: store, configuration: configuration)
        try queue.write { try $0.execute(sql: "UPDATE b SET a = 99") }
        try queue.close()
        let query = "SELECT * FROM pragma_foreign_key_check"
        let doctor = try ToolProcess.run(["doctor"], store: store)
        #expect(doctor.status == 5)
        #expect(doctor.output.contains("\"\(query)\""), "\(doctor.output)")
        let rows = try ToolProcess.run(["sql", query, "--format", "csv"], store: store)
        #expect(rows.output.contains("b,5,a,0"), "\(rows.output)\(rows.errors)")
    }

    /// An example is copied more often than it is read.
    @Test("The projection that help shows holds the sums of the table")
    func projectionOfHelp() throws {
        let store = try adopted(
            """
            CREATE TABLE orders(id INTEGER PRIMARY KEY, customer TEXT, cents INTEGER);
            INSERT INTO orders VALUES (1, 'a', 100), (2, 'b', 50), (3, 'b', 7);
            """)
        for sql in [
            "UPDATE orders SET customer = 'b' WHERE id = 1", "UPDATE orders SET customer = 'a', cents = 8 WHERE id = 3",
            "DELETE FROM orders WHERE id = 2",
        ] {
            try #require(try ToolProcess.run(["exec", sql, "--reason", "test", "--yes"], store: store).status == 0)
        }
        let help = try ToolProcess.run(["help", "compare-replay"], store: nil).output
        let example = help.components(separatedBy: "\n").drop { !$0.hasPrefix("  CREATE TABLE totals") }
            .prefix { $0.hasPrefix("  ") }.map { String($0.dropFirst(2)) }
        let file = folder.path("totals.sql")
        try Data(example.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: file))
        let sums = try ToolProcess.run(
            ["replay", "-q", "--step", "--projection", file], store: store,
            input: "g head\ns SELECT group_concat(customer || cents) FROM (SELECT * FROM totals ORDER BY customer)\n")
        #expect(sums.output.contains("a8,b100"), "\(example)\n\(sums.output)\(sums.errors)")
    }

    @Test("A dry run fails where the run would")
    func dryRunFailsLikeRun() throws {
        let store = try adopted(
            """
            CREATE TABLE aa(id INTEGER PRIMARY KEY, p INTEGER REFERENCES zz(id)); CREATE TABLE zz(id INTEGER PRIMARY KEY);
            INSERT INTO zz VALUES (1); INSERT INTO aa VALUES (1, 1);
            """)
        for way in ["--dry-run", "--yes"] {
            let outcome = try ToolProcess.run(["restore-state", "@0", "zz/1", way], store: store)
            #expect(outcome.status == 7, "\(way): \(outcome.output)\(outcome.errors)")
        }
        let both = try ToolProcess.run(["restore-state", "@0", "zz", "aa", "--yes"], store: store)
        #expect(both.status == 0, "\(both.errors)")
    }

    @Test("A projection in SQL can't reach other files")
    func sqlProjectionIsConfined() throws {
        let store = try adopted("CREATE TABLE t(id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (1, 'a')")
        let file = folder.path("evil.sql")
        for (number, sql) in [
            "COMMIT; ATTACH '\(store)' AS e; UPDATE e.t SET v = 'b'", "COMMIT; VACUUM INTO '\(folder.path("x.db"))'",
        ]
        .enumerated() {
            try Data("CREATE TABLE n(x);\n\(sql);\n-- on insert of t\nINSERT INTO n VALUES (1);\n".utf8).write(
                to: URL(fileURLWithPath: file))
            for command in [["replay", "--projection", file], ["compare-replay", "--old", file, "--new", file]] {
                let outcome = try ToolProcess.run(command, store: store)
                #expect(outcome.status != 0, "\(number) \(command): \(outcome.output)")
            }
        }
        #expect(try ToolProcess.run(["verify"], store: store).status == 0)
        #expect(!FileManager.default.fileExists(atPath: folder.path("x.db")))
    }

    @Test("Notes aren't replaced unasked")
    func notesAreNotReplaced() throws {
        let store = try adopted("CREATE TABLE t(id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1)")
        func status(_ arguments: String...) throws -> Int32 { try ToolProcess.run(arguments, store: store).status }
        #expect(try status("note", "t:1", "one") == 0)
        #expect(try status("note", "t:1", "two") == 2)
        #expect(try status("note", "t:1", "two", "--yes") == 0)
        #expect(try status("tag", "a", "t:1") == 0)
        #expect(try status("tag", "a", "t:1", "--note", "one") == 0)
        #expect(try status("tag", "a", "t:1", "--note", "") == 2)
        #expect(try status("tag", "a", "t:1", "--note", "", "--yes") == 0)
    }

    @Test("An import that failed at once can be corrected")
    func correctingFailedImport() throws {
        let lines = (1...3).map { #"{"tx":1,"op":"insert","table":"t","id":"\#($0)","row":{"v":\#($0)}}"# }
        let file = folder.path("x.jsonl")
        func run(_ text: String) throws -> ToolProcess.Outcome {
            try Data(text.utf8).write(to: URL(fileURLWithPath: file))
            return try ToolProcess.run(["import", file], store: folder.path())
        }
        let cut = (lines[0] + "\n" + lines[1].dropLast(9))
        #expect(try run(cut).status == 7)
        #expect(try run(cut).errors.contains("Line 2"))
        let whole = try run(lines.joined(separator: "\n"))
        #expect(whole.status == 0, "\(whole.errors)")
        #expect(
            try ToolProcess.run(["sql", "SELECT count(*) AS n FROM t", "--format", "jsonl"], store: folder.path())
                .output.contains("3"))
    }

    @Test("Odd names can be watched for")
    func watchingOddNames() throws {
        let store = try adopted(
            """
            CREATE TABLE "it's my table"(id TEXT PRIMARY KEY, "c/d" TEXT); INSERT INTO "it's my table" VALUES ('x,y', 'a');
            """)
        let hit = try ToolProcess.run(["replay", "-q", "--break", "it's my table/x,y#c/d = a"], store: store)
        #expect(hit.status == 1, "\(hit.output)\(hit.errors)")
        for id in ["x,y", "x%2Cy"] {
            #expect(try ToolProcess.run(["history", "it's my table/\(id)"], store: store).status == 0)
        }
        #expect(try ToolProcess.run(["replay", "--break", "error"], store: store).status == 2)
        #expect(try ToolProcess.run(["log", "--since", "head", "--until", "@1"], store: store).status == 2)
        #expect(try ToolProcess.run(["rebuild", "--compare", "--dry-run"], store: store).status == 2)
    }

    /// A table goes first where a view of now has its name.
    @Test("A current view doesn't hide an earlier table")
    func viewHidesNoEarlierTable() async throws {
        let engine = try SampleStore.open(folder.path())
        _ = try await engine.commit(CommitMetadata()) { writer, db in
            try writer.adopt(
                db, "users", "CREATE TABLE users(id INTEGER PRIMARY KEY, _position INTEGER NOT NULL DEFAULT 0)")
            try db.execute(sql: "INSERT INTO users(id) VALUES (7)")
        }
        _ = try await engine.commit(CommitMetadata()) { _, db in
            try db.execute(
                sql: "ALTER TABLE users RENAME TO people; CREATE VIEW users AS SELECT id + 1 AS id FROM people")
        }
        try await engine.close()
        for (point, expected) in [("t:1", "7"), ("head", "8")] {
            let outcome = try ToolProcess.run(
                ["at", point, "SELECT id FROM users", "--format", "csv"], store: folder.path())
            #expect(
                outcome.output == "id\r\n\(expected)\r\n" || outcome.output == "id\n\(expected)\n", "\(outcome.errors)")
        }
    }

    @Test("A range is of whole commits")
    func rangesOfWholeCommits() async throws {
        let store = try await SampleStore()
        let outcome = try ToolProcess.run(["revert", "@17..@20", "--dry-run"], store: store.path)
        #expect(outcome.status == 2, "\(outcome.output)\(outcome.errors)")
        #expect(outcome.errors.contains("inside of a commit"), "\(outcome.output)\(outcome.errors)")
    }
}
