import Foundation
import GRDB
import StorageCore
import TestSupport
import Testing

@testable import StorageLog

/// `record` makes events of what another program wrote past the log.
@Suite struct RecordTests {
    private static let edit = """
        UPDATE users SET name = 'Anna D.'; DELETE FROM seats WHERE place = 2;
        INSERT INTO seats(row, place, guest) VALUES ('B', 1, 'yves'); INSERT INTO posts(id, title) VALUES ('new', 'N')
        """

    @Test("Foreign changes become one commit")
    func foreignChangesBecomeCommit() async throws {
        let store = try await SampleStore()
        try store.damage(Self.edit)
        let tables = try ["users", "seats", "posts"].map {
            try ToolProcess.run(["sql", "SELECT * FROM \($0)", "--format", "csv"], store: store.path).output
        }
        #expect(try ToolProcess.run(["verify"], store: store.path).status == 5)
        let outcome = try ToolProcess.run(["record", "--yes", "-m", "by hand"], store: store.path)
        #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
        #expect(outcome.output.contains("2 rows inserted, 1 row updated, 1 row deleted"), "\(outcome.output)")
        let verified = try ToolProcess.run(["verify"], store: store.path)
        #expect(verified.status == 0, "\(verified.output)")
        let after = try ["users", "seats", "posts"].map {
            try ToolProcess.run(["sql", "SELECT * FROM \($0)", "--format", "csv"], store: store.path).output
        }
        #expect(after == tables)
        let log = try ToolProcess.run(["log", "-1", "-p"], store: store.path).output
        for text in ["by hand", "Anna B. → Anna D.", "- seats/A,2", "+ seats/B,1", "+ posts/new"] {
            #expect(log.contains(text), "\(text): \(log)")
        }
        let again = try ToolProcess.run(["record", "--yes"], store: store.path)
        #expect(again.output.contains("Nothing to do"), "\(again.output)\(again.errors)")
        #expect(try ToolProcess.run(["doctor"], store: store.path).status == 0)
    }

    @Test("A dry run and one table change nothing else")
    func dryRunAndOneTable() async throws {
        let store = try await SampleStore()
        try store.damage(Self.edit)
        let planned = try ToolProcess.run(["record", "--dry-run"], store: store.path)
        #expect(planned.status == 0, "\(planned.errors)")
        #expect(planned.output.contains("Anna B. → Anna D."), "\(planned.output)")
        #expect(planned.output.contains("Would be recorded"), "\(planned.output)")
        #expect(try ToolProcess.run(["verify"], store: store.path).status == 5)
        let unconfirmed = try ToolProcess.run(["record"], store: store.path)
        #expect(unconfirmed.status == 2, "\(unconfirmed.errors)")
        let outcome = try ToolProcess.run(["record", "users", "--yes", "--format", "jsonl"], store: store.path)
        #expect(outcome.output.contains(#""inserted":0,"updated":1,"deleted":0"#), "\(outcome.output)\(outcome.errors)")
        let compared = try ToolProcess.run(["rebuild", "--compare"], store: store.path)
        #expect(compared.status == 1)
        #expect(!compared.output.contains("users: row"), "\(compared.output)")
    }

    private static let references = """
        CREATE TABLE users(id INTEGER PRIMARY KEY, name TEXT UNIQUE);
        CREATE TABLE tags(word TEXT NOT NULL COLLATE NOCASE PRIMARY KEY, rank UNIQUE);
        CREATE TABLE notes(id INTEGER PRIMARY KEY, user INTEGER NOT NULL REFERENCES users(id) ON DELETE CASCADE,
          tag TEXT REFERENCES tags(word) ON DELETE CASCADE);
        INSERT INTO users VALUES (1, 'Anna'), (2, 'Ben');
        INSERT INTO tags VALUES ('Ab', 1), ('cd', 2);
        INSERT INTO notes VALUES (1, 1, 'Ab'), (2, 2, 'cd');
        """

    /// Changes a store as a program does that enforces no foreign keys, which is SQLite's default.
    private static func edit(_ store: String, _ sql: String) throws {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let queue = try DatabaseQueue(path: store, configuration: configuration)
        try queue.write { try $0.execute(sql: sql) }
        try queue.close()
    }

    @Test("Rows exchange unique values under the rows that refer to them")
    func exchangeUnderReferences() throws {
        let folder = try TemporaryFolder()
        let store = try DeclaredImportTests.adopt(Self.references, in: folder, as: "app")
        try Self.edit(
            store,
            """
            UPDATE users SET name = 'x' WHERE id = 1;
            UPDATE users SET name = 'Anna' WHERE id = 2;
            UPDATE users SET name = 'Ben' WHERE id = 1
            """)
        func rows() throws -> [String] {
            try ["users", "tags", "notes"].map {
                try ToolProcess.run(["sql", "SELECT * FROM \($0) ORDER BY 1", "--format", "csv"], store: store).output
            }
        }
        let edited = try rows()
        let outcome = try ToolProcess.run(["record", "--yes"], store: store)
        #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
        #expect(try rows() == edited)
        let verified = try ToolProcess.run(["verify"], store: store)
        #expect(verified.status == 0, "\(verified.output)")
    }

    @Test("What can't be recorded is refused with what record can do")
    func refusalNamesWhatRecordHas() throws {
        let folder = try TemporaryFolder()
        let store = try DeclaredImportTests.adopt(Self.references, in: folder, as: "app")
        try Self.edit(store, "DELETE FROM users WHERE id = 1")
        let outcome = try ToolProcess.run(["record", "--yes"], store: store)
        #expect(outcome.status != 0)
        #expect(outcome.errors.contains("refer to it"), "\(outcome.errors)")
        #expect(outcome.errors.contains("storagekit rebuild"), "\(outcome.errors)")
        #expect(!outcome.errors.contains("overwrite"), "\(outcome.errors)")
    }

    private static let plain = """
        CREATE TABLE t(id INTEGER PRIMARY KEY, v); CREATE TABLE o(k TEXT PRIMARY KEY, v);
        INSERT INTO t VALUES (1, 'a'), (2, 'b'); INSERT INTO o VALUES ('A', 1);
        """

    /// Everything in a store that isn't its history, as another program sees it.
    private static func content(_ store: String) throws -> [String] {
        try DatabaseQueue(path: store).read { db in
            let objects = try Row.fetchAll(
                db,
                sql: """
                    SELECT name, type, sql FROM sqlite_schema
                    WHERE name NOT LIKE 'storage%' AND name NOT LIKE 'sqlite%' ORDER BY name
                    """)
            return try objects.flatMap { object -> [String] in
                let (name, sql): (String, String) = (object["name"], object["sql"])
                guard object["type"] as String == "table" else { return [sql] }
                let columns = try db.columns(in: name).filter { $0.name != "_position" }.map { "quote(\($0.name))" }
                let row = columns.joined(separator: " || ' ' || ")
                return try [sql] + String.fetchAll(db, sql: "SELECT \(row) FROM \(name) ORDER BY rowid")
            }
        }
    }

    /// The tables hold the only copy of what the other program wrote.
    @Test(
        "What can't be recorded leaves the tables as they are",
        arguments: [
            ("UPDATE t SET v = CAST(x'ff' AS TEXT) WHERE id = 1", "UPDATE t SET v = 'c' WHERE id = 1"),
            ("UPDATE t SET v = 'c' || char(0) || 'd' WHERE id = 1", "UPDATE t SET v = 'c' WHERE id = 1"),
            ("INSERT INTO o VALUES (NULL, 2, 0)", "UPDATE o SET k = 'B' WHERE k IS NULL"),
        ])
    func refusalKeepsTables(spoiling: String, correction: String) throws {
        let folder = try TemporaryFolder()
        let store = try DeclaredImportTests.adopt(Self.plain, in: folder, as: "app")
        try Self.edit(store, "UPDATE t SET v = 'important' WHERE id = 2; \(spoiling)")
        let edited = try Self.content(store)
        for arguments in [["record", "--dry-run"], ["record", "--yes"], ["record", "--yes"]] {
            let outcome = try ToolProcess.run(arguments, store: store)
            #expect(outcome.status == 2, "\(arguments): \(outcome.output)\(outcome.errors)")
            #expect(!outcome.errors.contains("abandon"), "\(outcome.errors)")
            #expect(try Self.content(store) == edited)
        }
        try Self.edit(store, correction)
        let corrected = try Self.content(store)
        let outcome = try ToolProcess.run(["record", "--yes"], store: store)
        #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
        #expect(try Self.content(store) == corrected)
        let verified = try ToolProcess.run(["verify"], store: store)
        #expect(verified.status == 0, "\(verified.output)")
    }

    /// A kept copy may be the only one of something.
    @Test("A copy that a rebuild has kept stays")
    func keptCopyStays() throws {
        let folder = try TemporaryFolder()
        let store = try DeclaredImportTests.adopt(Self.plain, in: folder, as: "app")
        #expect(try ToolProcess.run(["rebuild", "t", "--keep"], store: store).status == 0)
        try Self.edit(store, "UPDATE t SET v = 'c' WHERE id = 1")
        let outcome = try ToolProcess.run(["record", "--yes"], store: store)
        #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
        let kept = try DatabaseQueue(path: store).read { db in
            try String.fetchAll(db, sql: "SELECT name FROM sqlite_schema WHERE name LIKE 'storage!_kept%' ESCAPE '!'")
        }
        #expect(kept.count == 1)
        let verified = try ToolProcess.run(["verify"], store: store)
        #expect(verified.status == 0, "\(verified.output)")
    }

    /// The log has events of rows only: what another program has added to a table would be lost.
    @Test(
        "Changes of the tables themselves are named, and nothing is lost",
        arguments: [
            (
                "ALTER TABLE t ADD COLUMN n INT DEFAULT 5; UPDATE t SET n = 77 WHERE id = 1; INSERT INTO t(id, n) VALUES (10, 6)",
                "column n was added"
            ),
            ("CREATE INDEX extra ON t(v); UPDATE t SET v = 'c'", "CREATE INDEX extra ON t(v) was added"),
            (
                "CREATE TRIGGER extra AFTER DELETE ON t BEGIN SELECT 1; END; UPDATE t SET v = 'c'",
                "CREATE TRIGGER extra"
            ),
            ("ALTER TABLE t RENAME COLUMN v TO w", "column v is missing"),
            ("ALTER TABLE t DROP COLUMN v", "column v is missing"),
            ("ALTER TABLE t RENAME TO other", "dropped or renamed the table \"t\""),
            ("DROP TABLE t", "dropped or renamed the table \"t\""),
        ])
    func changedSchemaIsNamed(sql: String, difference: String) throws {
        let folder = try TemporaryFolder()
        let store = try DeclaredImportTests.adopt(Self.plain, in: folder, as: "app")
        try Self.edit(store, sql + "; UPDATE o SET v = 2")
        let edited = try Self.content(store)
        for command in ["record --dry-run", "record --yes", "record t --yes", "rebuild --compare"] {
            let arguments = command.split(separator: " ").map(String.init)
            let outcome = try ToolProcess.run(arguments, store: store)
            #expect(outcome.status == 5, "\(command): \(outcome.output)\(outcome.errors)")
            #expect(outcome.errors.contains(difference), "\(command): \(outcome.errors)")
            #expect(outcome.errors.contains("storagekit rebuild t"), "\(command): \(outcome.errors)")
            #expect(try Self.content(store) == edited)
        }
        // Another table can be recorded.
        let outcome = try ToolProcess.run(["record", "o", "--yes"], store: store)
        #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
        #expect(outcome.output.contains("1 row updated"), "\(outcome.output)")
    }

    @Test("A repair doesn't lose what was added to a table")
    func repairKeepsAdditions() throws {
        let folder = try TemporaryFolder()
        let store = try DeclaredImportTests.adopt(Self.plain, in: folder, as: "app")
        try Self.edit(store, "ALTER TABLE t ADD COLUMN n INT DEFAULT 5; UPDATE t SET n = 77, v = 'c' WHERE id = 1")
        let edited = try Self.content(store)
        let outcome = try ToolProcess.run(["doctor", "--fix", "--yes"], store: store)
        #expect(outcome.status == 5, "\(outcome.output)")
        #expect(outcome.output.contains("column n was added"), "\(outcome.output)")
        #expect(try Self.content(store) == edited)
    }

    @Test(
        "A repair brings back what was removed from a table",
        arguments: [
            "ALTER TABLE t DROP COLUMN v", "ALTER TABLE t DROP COLUMN w", "DROP INDEX t_w",
            "DROP INDEX t_w; ALTER TABLE t DROP COLUMN w; ALTER TABLE t DROP COLUMN v",
        ])
    func repairBringsBack(sql: String) throws {
        let folder = try TemporaryFolder()
        let tables = """
            CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT NOT NULL DEFAULT 'x', w INT CHECK (w > 0));
            INSERT INTO t VALUES (1, 'a', 2), (2, 'b', 3);
            """
        let index = sql.contains("t_w") ? "CREATE INDEX t_w ON t(w);" : ""
        let store = try DeclaredImportTests.adopt(tables + index, in: folder, as: "app")
        func rows() throws -> [String] {
            try DatabaseQueue(path: store).read {
                try String.fetchAll($0, sql: "SELECT id || v || w FROM t ORDER BY id")
            }
        }
        try Self.edit(store, sql)
        let found = try ToolProcess.run(["doctor"], store: store)
        #expect(found.status == 5)
        #expect(found.output.contains("is missing"), "\(found.output)")
        #expect(found.output.contains("--fix"), "\(found.output)")
        let fixed = try ToolProcess.run(["doctor", "--fix", "--yes"], store: store)
        #expect(fixed.status == 0, "\(fixed.output)\(fixed.errors)")
        #expect(try rows() == ["1a2", "2b3"])
        #expect(try ToolProcess.run(["verify"], store: store).status == 0)
    }

    /// The position of a row's last event isn't another program's to change: there is nothing to record, and still a difference.
    @Test("Changed positions aren't recorded, and are reported", arguments: [1, 99])
    func changedPositions(_ position: Int) async throws {
        let store = try await SampleStore()
        try store.damage("UPDATE posts SET _position = \(position) WHERE id = 'b'")
        for arguments in [["record", "--dry-run"], ["record", "--yes"]] {
            let outcome = try ToolProcess.run(arguments, store: store.path)
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(outcome.output.contains("1 row differs from the log only in _position"), "\(outcome.output)")
            #expect(outcome.output.contains("storagekit rebuild"), "\(outcome.output)")
        }
        #expect(try ToolProcess.run(["verify"], store: store.path).status == 5)
        #expect(try ToolProcess.run(["rebuild"], store: store.path).status == 0)
        #expect(try ToolProcess.run(["verify"], store: store.path).status == 0)
    }

    @Test("What another program replaced or deleted is named when the store is opened to write")
    func foreignChangesBeforeWriting() async throws {
        let changes = [
            ("REPLACE INTO posts(id, title) VALUES ('b', 'N')", "has no position"),
            ("DELETE FROM seats WHERE place = 2", "is missing"),
        ]
        for (sql, state) in changes {
            let store = try await SampleStore()
            try store.damage(sql)
            let outcome = try ToolProcess.run(["exec", "DELETE FROM posts", "--yes"], store: store.path)
            #expect(outcome.status == 5, "\(outcome.output)")
            #expect(outcome.errors.contains("a row \(state), and in the log its last change is @"), "\(outcome.errors)")
        }
    }
}
