import Foundation
import GRDB
import SchemaTestSupport
import StorageCore
import StorageKit
import StorageLog
import TestSupport
import Testing

/// The write guard keeps other programs from writing to entity tables, and shows nowhere else.
@Suite struct WriteGuardTests {
    private static let message = "this table is guarded: write with StorageKit or storagekit exec"
    private static let schema = """
        CREATE TABLE users(id INTEGER PRIMARY KEY, name TEXT UNIQUE, n INT DEFAULT 0);
        CREATE TABLE notes(id INTEGER PRIMARY KEY, user INTEGER REFERENCES users(id) ON DELETE CASCADE, text TEXT);
        CREATE TABLE plain(a, b);
        CREATE VIEW names AS SELECT name FROM users;
        INSERT INTO users(id, name) VALUES (1, 'Anna'), (2, 'Ben');
        INSERT INTO notes VALUES (1, 1, 'x');
        """

    private static func store(_ folder: TemporaryFolder, guarded: Bool = true) throws -> String {
        let store = try DeclaredImportTests.adopt(schema, in: folder, as: "app")
        if guarded { try expect(["guard", "on", "-m", "no more drift"], store, "The guard is on: 2 tables.") }
        return store
    }

    private static func expect(_ arguments: [String], _ store: String?, _ text: String, status: Int32 = 0) throws {
        let outcome = try ToolProcess.run(arguments, store: store)
        #expect(outcome.status == status, "\(arguments): \(outcome.output)\(outcome.errors)")
        #expect(
            text.isEmpty || (outcome.output + outcome.errors).contains(text),
            "\(arguments): \(outcome.output)\(outcome.errors)")
    }

    private static func isRefused(_ sql: String, at path: String) throws -> Bool {
        do {
            var configuration = Configuration()
            // The store may be open, and at work by itself.
            configuration.busyMode = .timeout(60)
            configuration.prepareDatabase { try $0.execute(sql: "PRAGMA foreign_keys = ON") }
            try DatabaseQueue(path: path, configuration: configuration).write { try $0.execute(sql: sql) }
            return false
        } catch let error as DatabaseError {
            #expect(error.message?.contains(message) ?? false, "\(sql): \(error)")
            return true
        }
    }

    private static func numbers(_ sql: String, at path: String) throws -> [Int] {
        try DatabaseQueue(path: path).read { try Int.fetchAll($0, sql: sql) }
    }

    // MARK: Other programs

    @Test("Another program reads, and is refused with a reason when it writes")
    func foreignWrites() throws {
        let folder = try TemporaryFolder()
        let store = try Self.store(folder)
        for sql in [
            "INSERT INTO users(id, name) VALUES (3, 'Cy')", "REPLACE INTO users(id, name) VALUES (1, 'Cy')",
            "INSERT INTO users(id, name) VALUES (1, 'Cy') ON CONFLICT DO UPDATE SET n = 2",
            "INSERT OR IGNORE INTO users(id, name) VALUES (1, 'Cy')", "UPDATE users SET n = 3 WHERE id = 77",
            "UPDATE users SET _position = 0", "DELETE FROM users", "DELETE FROM notes WHERE id = 1",
            "WITH x AS (SELECT 1) DELETE FROM users WHERE id IN x", "INSERT INTO users SELECT 9, 'Z', 1, 1",
        ] {
            #expect(try Self.isRefused(sql, at: store), "\(sql)")
        }
        // What has no history is no concern of the guard, and neither is a copy of a table.
        for sql in [
            "INSERT INTO plain VALUES (1, 2)", "SELECT * FROM names", "PRAGMA integrity_check", "ANALYZE",
            "CREATE TEMP TABLE copy AS SELECT * FROM users; UPDATE copy SET n = 1",
        ] {
            #expect(try !Self.isRefused(sql, at: store), "\(sql)")
        }
        let python = """
            import sqlite3, sys
            c = sqlite3.connect(sys.argv[1])
            c.execute('VACUUM INTO ?', [sys.argv[1] + '.copy'])
            for path in (sys.argv[1], sys.argv[1] + '.copy'):
                d = sqlite3.connect(path)
                print(d.execute('SELECT count(*) FROM users').fetchone()[0])
                try: d.execute("UPDATE users SET name = 'X'")
                except sqlite3.OperationalError as e: print(e)
            """
        let outcome = try ToolProcess.shell(
            "python3 -c '\(python.replacing("'", with: "'\\''"))' '\(store)'", store: nil)
        #expect(outcome.errors.isEmpty, "\(outcome.errors)")
        let lines = outcome.output.split(separator: "\n")
        try #require(lines.count == 4, "\(outcome.output)")
        #expect(lines[0] == "2", "\(outcome.output)")
        #expect(lines[2] == "2", "\(outcome.output)")
        #expect(lines.count(where: { $0.contains(Self.message) }) == 2, "\(outcome.output)")
        try Self.expect(["verify"], store, "OK")
        try Self.expect(["exec", "DELETE FROM users WHERE id = 1", "--yes"], store, "2 rows deleted")
        try Self.expect(["log", "--table", "storage_operation", "-p"], store, "guard on")
        try Self.expect(["guard", "off"], store, "The guard is off")
        #expect(try !Self.isRefused("UPDATE users SET n = 3", at: store))
        let triggers = try DatabaseQueue(path: store).read {
            try Int.fetchOne($0, sql: "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'storage_entity%'")
        }
        #expect(triggers == 0)
    }

    @Test("The guard is shown before it changes, asked for on a terminal, and recorded once")
    func dryRun() throws {
        let folder = try TemporaryFolder()
        let store = try Self.store(folder, guarded: false)
        let commits = try ToolProcess.run(["log", "--schema", "--format", "jsonl"], store: store).output
        try Self.expect(["guard", "on", "--dry-run"], store, "The guard would be on: 2 tables.")
        let plan = try ToolProcess.run(["guard", "on", "--dry-run", "--format", "json"], store: store).output
        #expect(plan.contains(#""guard":true,"tables":2,"unguarded":[],"dry_run":true"#), "\(plan)")
        try Self.expect(["guard", "off"], store, "Nothing to do: the guard is off already.")
        let refused = try ToolProcess.onTerminal(["guard", "on"], store: store, answer: "n\n")
        #expect(refused.status == 1, "\(refused.output)")
        #expect(refused.errors.contains("won't be able to write to 2 tables. Continue? [y/N]"), "\(refused.errors)")
        #expect(try !Self.isRefused("UPDATE users SET n = n", at: store))
        #expect(try ToolProcess.run(["log", "--schema", "--format", "jsonl"], store: store).output == commits)
        let agreed = try ToolProcess.onTerminal(["guard", "on"], store: store, answer: "y\n")
        #expect(agreed.output.contains("The guard is on: 2 tables."), "\(agreed.output)\(agreed.errors)")
        try Self.expect(["guard", "on"], store, "Nothing to do: the guard is on already.")
        try Self.expect(["guard", "status", "--dry-run"], store, "--dry-run requires on or off.", status: 2)
        let now = try ToolProcess.run(["log", "--schema", "--format", "jsonl"], store: store).output
        #expect(now.count(where: \.isNewline) == commits.count(where: \.isNewline) + 1, "\(now)")
        try Self.expect(["guard", "off", "--dry-run"], store, "The guard would be off: 2 tables.")
        #expect(try Self.isRefused("UPDATE users SET n = 3", at: store))
    }

    @Test("An older version reads a guarded store, and doesn't write to it")
    func olderVersion() throws {
        let folder = try TemporaryFolder()
        let store = try Self.store(folder)
        let flags = try DatabaseQueue(path: store).read {
            try Row.fetchOne($0, sql: "SELECT compatible, read_only_compatible, incompatible FROM storage_meta")
        }
        #expect(flags == ["compatible": 0, "read_only_compatible": 1, "incompatible": 0])
    }

    // MARK: The store itself

    /// The same statements with the guard and without: the same events, tables and answers. SQLite updates the rows of a table
    /// with triggers in another order, so the store without the guard has triggers that do nothing.
    @Test("The store's own writes are the same with the guard", arguments: testSeeds(2))
    func ownWrites(seed: UInt64) async throws {
        let folder = try TemporaryFolder()
        var generator = HostileStatements(seed: seed)
        let commits = (0..<60).map { _ in generator.commit() }
        var results: [[String]] = []
        for isGuarded in [false, true] {
            let path = folder.path("\(isGuarded).sqlite")
            var configuration = StorageConfig()
            configuration.clock = StillClock(microseconds: SampleStore.start)
            let engine = try StorageEngine.open(path: path, configuration: configuration)
            _ = try await engine.commit(CommitMetadata()) { writer, db in
                for table in HostileTables.all {
                    try writer.adopt(db, table.name, table.sql)
                    for operation in isGuarded ? [] : ["INSERT", "UPDATE", "DELETE"] {
                        try db.execute(
                            sql: """
                                CREATE TRIGGER idle_\(table.name)_\(operation) AFTER \(operation) ON \(table.name)
                                WHEN random() IS NULL BEGIN SELECT 1; END
                                """)
                    }
                }
            }
            if isGuarded { try await engine.setWriteGuard(true) }
            var result: [String] = []
            for (index, statements) in commits.enumerated() {
                // Half of the time without triggers, which are made and dropped on the way.
                if index == 20 || index == 50 {
                    _ = try await engine.commit(CommitMetadata()) { _, db in try db.execute(sql: HostileTables.triggers)
                    }
                } else if index == 35 {
                    _ = try await engine.commit(CommitMetadata()) { _, db in
                        let names = try String.fetchAll(
                            db,
                            sql:
                                "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND name NOT LIKE 'storage%' AND name NOT LIKE 'idle%'"
                        )
                        for name in names { try db.execute(sql: "DROP TRIGGER \(name)") }
                    }
                }
                // Sound as `nonisolated(unsafe)`: written inside of the commit, which this task waits for.
                nonisolated(unsafe) var answers: [String] = []
                _ = try? await engine.commit(CommitMetadata()) { _, db in
                    for statement in statements {
                        do {
                            try db.execute(sql: statement)
                            // Where a statement changes nothing, SQLite still has the numbers of an earlier one.
                            guard !["SAVEPOINT", "RELEASE", "ROLLBACK", "PRAGMA"].contains(where: statement.hasPrefix)
                            else { continue }
                            let changes = db.changesCount
                            let rowid = changes > 0 && statement.hasPrefix("INSERT") ? " \(db.lastInsertedRowID)" : ""
                            answers.append("\(changes)\(rowid)")
                        } catch let error as DatabaseError {
                            answers.append("\(error.extendedResultCode)")
                        }
                    }
                }
                result += answers
            }
            try await engine.close()
            result.append(try ToolProcess.run(["export"], store: path).output)
            try DeclaredImportTests.expectSound(path, "seed \(seed), \(isGuarded)")
            results.append(result)
        }
        #expect(results[0].count > 100)
        for (plain, guarded) in zip(results[0], results[1]) { try #require(plain == guarded, "seed \(seed)") }
    }

    @Test("A trigger runs from its own commit on, and stops when it is dropped")
    func newTrigger() async throws {
        let folder = try TemporaryFolder()
        let store = try Self.store(folder)
        let storage = try Storage.open(path: store)
        let (insert, create) = (
            "INSERT INTO users(id, name) VALUES (?, 'N' || ?1)",
            "CREATE /* a */ TRIGGER counts AFTER INSERT ON users BEGIN UPDATE users SET n = n + 1; END"
        )
        _ = try await storage.write { tx in
            try tx.execute(insert, [3])
            try tx.execute("CREATE TEMP TABLE scratch(x)")
            try tx.execute(create)
        }
        _ = try await storage.write { tx in try tx.execute(insert, [4]) }
        _ = try await storage.write { tx in
            try tx.execute("DROP TRIGGER counts")
            try tx.execute(create)
            try tx.execute(insert, [5])
        }
        _ = try await storage.write { tx in
            try tx.execute("DROP TRIGGER counts")
            try tx.execute(insert, [6])
        }
        try await storage.close()
        let counts = try Self.numbers("SELECT n FROM users ORDER BY id", at: store)
        #expect(counts == [2, 2, 2, 2, 1, 0])
        try DeclaredImportTests.expectSound(store, "triggers")
    }

    /// Whatever makes, renames or replaces a table: it is guarded afterwards, and nothing shows the triggers.
    @Test("Tables that are made later are guarded too")
    func laterTables() async throws {
        let folder = try TemporaryFolder()
        let store = try Self.store(folder)
        func expectGuarded(_ path: String, _ tables: Int, _ comment: Comment) throws {
            let status = try ToolProcess.run(["guard", "status", "--format", "json"], store: path)
            #expect(
                status.output.contains(#""guard":true,"tables":\#(tables),"unguarded":[],"dry_run":false"#),
                "\(comment): \(status.output)")
            try DeclaredImportTests.expectSound(path, comment)
        }
        let storage = try Storage.open(path: store)
        for (sql, comment) in [
            ("ALTER TABLE users RENAME TO people", "renamed"),
            ("ALTER TABLE people ADD COLUMN mail TEXT DEFAULT 'm'", "added"),
            ("ALTER TABLE people RENAME COLUMN mail TO email", "renamed column"),
            ("ALTER TABLE people DROP COLUMN email", "dropped column"),
        ] {
            _ = try await storage.write { tx in try tx.execute(sql) }
            #expect(try Self.isRefused("DELETE FROM people", at: store), "\(comment)")
        }
        try await storage.close()
        try expectGuarded(store, 2, "altered")
        try Self.expect(["rebuild"], store, "notes")
        try expectGuarded(store, 2, "rebuilt")
        let lines = #"{"tx":1,"op":"insert","table":"made","id":"1","row":{"x":1}}"#
        #expect(try ToolProcess.run(["import", "-"], store: store, input: lines + "\n").status == 0)
        try expectGuarded(store, 3, "imported")
        #expect(try Self.isRefused("DELETE FROM made", at: store))
        #expect(try !Self.isRefused("CREATE TABLE late(id INTEGER PRIMARY KEY)", at: store))
        try Self.expect(["adopt", store, "late", "--in-place", "--yes"], nil, "late")
        try expectGuarded(store, 4, "adopted")
        // A copy, and a copy cut to a point.
        let (backup, restored) = (folder.path("backup.sqlite"), folder.path("restored.sqlite"))
        try Self.expect(["backup", backup], store, "")
        try expectGuarded(backup, 4, "backup")
        try Self.expect(["restore", store, "--to", "head~1", "-o", restored], nil, "")
        #expect(try Self.isRefused("DELETE FROM people", at: restored))
        try Self.expect(["verify"], restored, "OK")
        try Self.expect(["restore-state", "t:1", "--yes"], store, "", status: 0)
        let dropping = try Storage.open(path: store)
        _ = try await dropping.write { tx in try tx.execute("DROP TABLE late") }
        try await dropping.close()
        try expectGuarded(store, 3, "dropped")
    }

    @Test("Nothing but the file's own schema shows the guard")
    func invisible() throws {
        let folder = try TemporaryFolder()
        let store = try Self.store(folder, guarded: false)
        let commands = [
            ["export"], ["schema"], ["schema", "--format", "json"], ["schema", "log"], ["stats", "users"],
            ["at", "head", "SELECT * FROM users"], ["sql", "SELECT * FROM names"], ["history", "users/1"],
            ["sql", "SELECT count(*) FROM history_users"],
        ]
        let before = try commands.map { try ToolProcess.run($0, store: store).output }
        try Self.expect(["guard", "on"], store, "on")
        for (command, output) in zip(commands, before) {
            #expect(try ToolProcess.run(command, store: store).output == output, "\(command)")
        }
    }

    // MARK: Doctor

    @Test("A trigger that is gone is noticed, and made again on request")
    func missingTrigger() throws {
        let folder = try TemporaryFolder()
        let store = try Self.store(folder)
        let entity = try DatabaseQueue(path: store).write { db in
            let name = try #require(
                try String.fetchOne(
                    db,
                    sql:
                        "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'users' AND name LIKE 'storage_entity%update'"
                ))
            try db.execute(sql: "DROP TRIGGER \(name)")
            return name
        }
        #expect(entity.hasSuffix("_update"))
        #expect(try Self.isRefused("DELETE FROM users", at: store))
        try Self.expect(["guard", "status"], store, "not for users", status: 1)
        try Self.expect(["verify"], store, "write guard", status: 5)
        try Self.expect(["doctor"], store, "other programs can write to users")
        try Self.expect(["doctor", "--fix", "--dry-run"], store, "complete the write guard")
        try Self.expect(["doctor", "--fix"], store, "completed the write guard")
        try Self.expect(["guard", "status"], store, "The guard is on: 2 tables.")
        try Self.expect(["verify"], store, "OK")
        // The next write makes it again, too.
        try DatabaseQueue(path: store).write { try $0.execute(sql: "DROP TRIGGER \(entity)") }
        try Self.expect(["exec", "UPDATE users SET n = 9", "--yes"], store, "2 rows updated")
        try Self.expect(["guard", "status"], store, "The guard is on")
        // A foreign trigger of such a name is none of the guard's.
        try DatabaseQueue(path: store).write {
            try $0.execute(sql: "CREATE TRIGGER storage_entity_1_x AFTER INSERT ON plain BEGIN DELETE FROM plain; END")
        }
        try Self.expect(["verify"], store, "storage_entity_1_x", status: 5)
    }
}
