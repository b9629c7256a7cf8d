import Foundation
import GRDB
import StorageCore
import TestSupport
import Testing

@testable import StorageKitTool
@testable import StorageLog

/// P9: whatever another program has written into a store, each command ends with a code of the list, and none writes on over it.
struct HostileStoreTests {
    /// Changes a store as a program can that gives itself the engine's function.
    private func meddle(_ path: String, _ sql: String) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.write { db in
            db.add(function: DatabaseFunction("storage_engine", argumentCount: 0) { _ in 1 })
            try db.execute(sql: sql)
        }
        try queue.close()
    }

    /// A copy of the sample store after somebody's change; it is gone with the folder.
    private func copy(_ sql: String) async throws -> TemporaryFolder {
        let store = try await SampleStore.shared.value
        let folder = try TemporaryFolder()
        try FileManager.default.copyItem(atPath: store.path, toPath: folder.path())
        try meddle(folder.path(), sql)
        return folder
    }

    /// The codes with which commands end, by a shell that gives signals (128 and more) and time-outs (124) other codes than ours.
    private func statuses(_ commands: [String], _ path: String) throws -> [String: Int] {
        let lines = commands.map { #"timeout 600 "$0" \#($0) >/dev/null 2>&1; echo $?"# }
        let output = try ToolProcess.shell(lines.joined(separator: "; "), store: path).output
        return Dictionary(uniqueKeysWithValues: zip(commands, output.split(separator: "\n").map { Int($0) ?? -1 }))
    }

    private static let last = "(SELECT max(position) FROM storage_log)"

    @Test(
        "Absurd numbers in the log end in an exit status",
        arguments: [
            "SET last = 9223372036854775807 WHERE position = 1", "SET last = -1 WHERE position = \(last)",
            "SET last = 9223372036854775807 WHERE position = \(last)",
            "SET last_commit = 9223372036854775807 WHERE position = \(last)",
            "SET position = position + 9223372036854775000, last = last + 9223372036854775000",
            "SET position = -5, last = 9223372036854775807 WHERE position = 1",
            "SET first_time = -9223372036854775808, last_time = -9223372036854775808",
        ])
    func absurdLogNumbers(_ change: String) async throws {
        let folder = try await copy("UPDATE storage_log \(change)")
        let commands = [
            "verify", "doctor", "log", "history posts/b", "show t:3", "diff t:2 head", "undo --yes --dry-run",
            "sql 'SELECT count(*) FROM commits'", "backup '\(folder.path("copy"))'", "rebuild --compare", "tag x head",
        ]
        let statuses = try statuses(commands, folder.path())
        #expect(statuses.count == commands.count, "\(statuses)")
        #expect(statuses.values.allSatisfy { (0...8).contains($0) }, "\(statuses)")
        #expect(statuses["verify"] == 5)
    }

    /// A trigger there runs with each commit of ours, or at each opening, behind the log.
    @Test(
        "Triggers on the store's own tables are found and not run",
        arguments: [
            "CREATE TRIGGER evil AFTER INSERT ON storage_operation BEGIN DELETE FROM posts; END",
            "CREATE TRIGGER evil AFTER UPDATE ON storage_meta BEGIN UPDATE posts SET views = 0; END",
            "CREATE TRIGGER storage_evil AFTER INSERT ON storage_log BEGIN DELETE FROM posts; END",
            "CREATE UNIQUE INDEX evil ON storage_operation(command)",
        ])
    func foreignTriggers(_ sql: String) async throws {
        let folder = try await copy(sql)
        let rows = try posts(folder.path())
        let verified = try ToolProcess.run(["verify"], store: folder.path())
        #expect(verified.status == 5, "\(verified.output)")
        #expect(verified.output.contains("evil"), "\(verified.output)")
        for command in [["undo", "--yes"], ["tag", "x", "head"], ["rebuild"]] {
            let outcome = try ToolProcess.run(command, store: folder.path())
            #expect(outcome.status == 5, "\(command): \(outcome)")
            #expect(outcome.errors.contains("evil"), "\(command): \(outcome)")
        }
        #expect(try posts(folder.path()) == rows)
        #expect(try ToolProcess.run(["log"], store: folder.path()).status == 0)
    }

    private func posts(_ path: String) throws -> [Row] {
        try DatabaseQueue(path: path).read { try Row.fetchAll($0, sql: "SELECT * FROM posts ORDER BY id") }
    }

    /// Rows that no event holds can be checked for their form only.
    @Test(
        "Foreign bookkeeping is found",
        arguments: [
            "INSERT INTO storage_commit_key VALUES ('order-17', -3, 1, 0, 0)",
            "INSERT INTO storage_commit_key VALUES ('order-17', 0, 99999, 99998, 0)",
            "INSERT INTO storage_import VALUES ('somewhere', 'as far as it went')",
            "INSERT INTO storage_shadow VALUES (4711, 1, '', 0)",
            "UPDATE storage_meta SET writer_epoch = 9.3e18",
        ])
    func foreignBookkeeping(_ sql: String) async throws {
        let folder = try await copy(sql)
        let verified = try ToolProcess.run(["verify"], store: folder.path())
        #expect(verified.status == 5, "\(verified.output)")
        #expect(verified.output.contains("! bookkeeping"), "\(verified.output)")
    }

    /// Of a row that is there, of one that never was, and of an entity that never was.
    @Test(
        "Foreign tombstones are found",
        arguments: [
            "SELECT id, x'030162', 1 FROM storage_catalog WHERE name = 'posts'",
            "SELECT id, x'030163', 1 FROM storage_catalog WHERE name = 'posts'", "VALUES (777777, x'00', 1)",
        ])
    func foreignTombstones(_ rows: String) async throws {
        let folder = try await copy("INSERT OR REPLACE INTO storage_tombstone \(rows)")
        let verified = try ToolProcess.run(["verify"], store: folder.path())
        #expect(verified.status == 5, "\(verified.output)")
        #expect(verified.output.contains("! tombstone"), "\(verified.output)")
    }

    @Test(
        "Absurd numbers in a checkpoint end in an exit status",
        arguments: [
            "position = -9223372036854775808", "position = 9223372036854775807", "events = -9223372036854775808",
            "events = 9223372036854775807", "microseconds = 9223372036854775807", "time = 9223372036854775807",
            "events = 4611686018427387903, microseconds = 1", "failed = 0",
        ])
    func absurdCheckpoints(_ change: String) async throws {
        let folder = try await copy(
            """
            INSERT INTO storage_projection(name, kind, version, definition) VALUES ('views', 'async', 1, '');
            INSERT INTO storage_checkpoint(projection, position, replayed, state, events, microseconds)
            VALUES ('views', 1, 0, 'running', 1, 1);
            UPDATE storage_checkpoint SET \(change)
            """)
        let commands = [
            "verify", "doctor", "projections", "projections --json", "projections pause views",
            "projections reset views",
        ]
        let statuses = try statuses(commands, folder.path())
        #expect(statuses.count == commands.count, "\(statuses)")
        #expect(statuses.values.allSatisfy { (0...8).contains($0) }, "\(statuses)")
    }

    /// A trigger there would run with each import, and a column would never be recorded.
    @Test(
        "A table that another program changed isn't written to",
        arguments: [
            "ALTER TABLE posts ADD COLUMN balance INTEGER", "CREATE INDEX another ON posts(title)",
            "ALTER TABLE posts RENAME COLUMN title TO heading", "ALTER TABLE posts RENAME COLUMN id TO key",
            "CREATE TRIGGER another AFTER UPDATE ON posts BEGIN UPDATE posts SET title = upper(title); END",
        ])
    func tableChangedByOthers(_ sql: String) async throws {
        let folder = try await copy(sql)
        let outcome = try ToolProcess.run(["undo", "--yes"], store: folder.path())
        #expect(outcome.status == 5, "\(outcome.errors)")
        #expect(outcome.errors.contains("posts"), "\(outcome.errors)")
        #expect(try ToolProcess.run(["rebuild", "posts"], store: folder.path()).status == 0, "a repair may write")
        #expect(try ToolProcess.run(["undo", "--yes"], store: folder.path()).status == 0)
        #expect(try ToolProcess.run(["verify"], store: folder.path()).status == 0)
    }

    /// The log has all of it. What the other program made of the table stays under its new name.
    @Test(
        "A table that another program dropped or renamed is rebuilt",
        arguments: ["DROP TABLE t", "ALTER TABLE t RENAME TO other"],
        [
            ["rebuild", "t"], ["rebuild"], ["doctor", "--fix", "--yes"],
            ["exec", "INSERT INTO t(id, v) VALUES (3, 'c')", "--yes"], ["restore"],
        ])
    func missingTable(_ sql: String, command: [String]) throws {
        let folder = try TemporaryFolder()
        let store = try DeclaredImportTests.adopt(
            """
            CREATE TABLE t(id INTEGER PRIMARY KEY, v); CREATE UNIQUE INDEX t_by_v ON t(v);
            CREATE TRIGGER t_deleted AFTER DELETE ON t BEGIN SELECT 1; END;
            INSERT INTO t VALUES (1, 'a'), (2, 'b');
            """, in: folder, as: "app")
        let queue = try DatabaseQueue(path: store)
        try queue.write { try $0.execute(sql: sql) }
        try queue.close()
        let repaired = command == ["restore"] ? folder.path("new.sqlite") : store
        let arguments = command == ["restore"] ? ["restore", store, "-o", repaired] : command
        let outcome = try ToolProcess.run(arguments, store: command == ["restore"] ? nil : store)
        #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
        let verified = try ToolProcess.run(["verify"], store: repaired)
        #expect(verified.status == 0, "\(verified.output)\(verified.errors)")
        let names = try DatabaseQueue(path: repaired).read { db in
            #expect(try String.fetchAll(db, sql: "SELECT v FROM t WHERE id < 3 ORDER BY id") == ["a", "b"])
            return try String.fetchAll(db, sql: "SELECT name FROM sqlite_schema WHERE tbl_name = 't' ORDER BY name")
        }
        #expect(names == ["t", "t_by_v", "t_deleted"])
    }

    @Test("A renamed table that others refer to is rebuilt")
    func renamedParent() throws {
        let folder = try TemporaryFolder()
        let store = try DeclaredImportTests.adopt(
            """
            CREATE TABLE t(id INTEGER PRIMARY KEY, v); CREATE INDEX t_by_v ON t(v);
            CREATE TABLE c(id INTEGER PRIMARY KEY, t INTEGER REFERENCES t(id) ON DELETE CASCADE);
            INSERT INTO t VALUES (1, 'a'), (2, 'b'); INSERT INTO c VALUES (1, 1);
            """, in: folder, as: "app")
        let queue = try DatabaseQueue(path: store)
        // The references of the other table follow.
        try queue.write { try $0.execute(sql: "ALTER TABLE t RENAME TO other") }
        try queue.close()
        let refused = try ToolProcess.run(["exec", "INSERT INTO c(id, t) VALUES (2, 2)", "--yes"], store: store)
        #expect(refused.status == 5, "\(refused.errors)")
        #expect(refused.errors.contains("storagekit rebuild c"), "\(refused.errors)")
        #expect(try ToolProcess.run(["rebuild"], store: store).status == 0)
        let verified = try ToolProcess.run(["verify"], store: store)
        #expect(verified.status == 0, "\(verified.output)\(verified.errors)")
        #expect(try ToolProcess.run(["exec", "DELETE FROM t WHERE id = 1", "--yes"], store: store).status == 0)
    }

    @Test("An epoch that can't rise refuses writers")
    func exhaustedEpoch() async throws {
        let folder = try await copy("UPDATE storage_meta SET writer_epoch = 9223372036854775807")
        #expect(try ToolProcess.run(["undo", "--yes"], store: folder.path()).status == 5)
        #expect(try ToolProcess.run(["log"], store: folder.path()).status == 0)
    }

    /// What replaces a table can be without end.
    @Test("A view in place of a table is damage")
    func viewInsteadOfTable() async throws {
        let folder = try await copy(
            """
            DROP TABLE storage_meta; CREATE VIEW storage_meta AS
            WITH RECURSIVE n(format) AS (SELECT 1 UNION ALL SELECT format + 1 FROM n) SELECT * FROM n WHERE format < 0
            """)
        let commands = ["verify", "log", "undo --yes"]
        let statuses = try statuses(commands, folder.path())
        #expect(statuses == ["verify": 5, "log": 5, "undo --yes": 5])
    }

    /// By these columns a reader skips segments, so what can't be right must not hide events. 4777 is the id of no entity.
    @Test(
        "Damaged entities of a segment are reported",
        arguments: ["x''", "x'80'", "x'00'", "x'ffffffff7f'", "entities || entities", "x'a925'"])
    func damagedEntities(_ entities: String) async throws {
        let folder = try await copy("UPDATE storage_log SET entities = \(entities)")
        for command in ["verify", "export", "log"] {
            let outcome = try ToolProcess.run([command], store: folder.path())
            #expect(outcome.status == 5, "\(command): \(outcome)")
        }
    }

    @Test(
        "Damage of the store's own tables isn't the user's mistake",
        arguments: [
            "DROP TABLE storage_log", "DROP TABLE storage_catalog", "UPDATE storage_catalog SET type = x''",
            "PRAGMA application_id = 0",
        ])
    func damagedOwnTables(_ sql: String) async throws {
        let folder = try await copy(sql)
        for command in [["verify"], ["doctor"], ["export"], ["log"], ["rebuild"]] {
            let outcome = try ToolProcess.run(command, store: folder.path())
            #expect(outcome.status == 5, "\(command): \(outcome)")
            #expect(!sql.hasPrefix("PRAGMA") || outcome.errors.contains("PRAGMA application_id = 1398"), "\(outcome)")
        }
    }

    @Test("A store that lacks a table which isn't read is read as before, and named damaged")
    func missingTableOfOperations() async throws {
        let folder = try await copy("DROP TABLE storage_import")
        #expect(try ToolProcess.run(["export"], store: folder.path()).status == 0)
        let found = try ToolProcess.run(["verify"], store: folder.path())
        #expect(found.status == 5)
        #expect(found.output.contains("storage_import"), "\(found.output)")
    }

    private func users(_ path: String) throws -> Int? {
        try DatabaseQueue(path: path).read { try Int.fetchOne($0, sql: "SELECT count(*) FROM users") }
    }

    /// The tables may be the only copy of what the lost segments held.
    @Test(
        "A log that lacks segments refuses what would discard rows",
        arguments: [
            "", "WHERE position = \(last)",
            "WHERE position = (SELECT position FROM storage_log ORDER BY position LIMIT 1 OFFSET 2)",
        ], [["rebuild"], ["doctor", "--fix", "--yes"], ["doctor", "--deep", "--fix", "--yes"]])
    func lostSegments(_ which: String, command: [String]) async throws {
        let folder = try await copy("DELETE FROM storage_log \(which)")
        let rows = try posts(folder.path())
        let outcome = try ToolProcess.run(command, store: folder.path())
        #expect(outcome.status == 5, "\(outcome)")
        #expect(try posts(folder.path()) == rows)
        #expect(try users(folder.path()) == 1)
    }

    @Test("An emptied log isn't begun again")
    func emptiedLog() async throws {
        let folder = try await copy("DELETE FROM storage_log")
        let outcome = try ToolProcess.run(["exec", "INSERT INTO users(id) VALUES (9)", "--yes"], store: folder.path())
        #expect(outcome.status == 5, "\(outcome)")
        #expect(outcome.errors.contains("storage_catalog"), "\(outcome)")
        #expect(try users(folder.path()) == 1)
    }

    @Test("Rows after the log's end aren't discarded, and can be recorded")
    func rowsAfterLogEnd() async throws {
        let folder = try await copy("SELECT 1")
        let path = folder.path()
        let engine = try SampleStore.open(path)
        _ = try await engine.commit(CommitMetadata()) { _, db in
            try db.execute(sql: "INSERT INTO users(id, name) VALUES (9, 'Zoe')")
        }
        try await engine.close()
        try FileManager.default.removeItem(atPath: path + ".bell")
        try meddle(path, "DELETE FROM storage_log WHERE position = \(Self.last)")
        for command in [
            ["rebuild"], ["doctor", "--fix", "--yes"], ["doctor", "--deep", "--fix", "--yes"],
            ["exec", "DELETE FROM users WHERE id = 7", "--yes"],
        ] {
            let outcome = try ToolProcess.run(command, store: path)
            #expect(outcome.status == 5, "\(command): \(outcome)")
        }
        #expect(try users(path) == 2)
        for command in [["record", "--yes"], ["verify"], ["rebuild"], ["doctor"]] {
            let outcome = try ToolProcess.run(command, store: path)
            #expect(outcome.status == 0, "\(command): \(outcome)")
        }
        #expect(try users(path) == 2)
    }

    /// A log that is ahead of its tables: cheap to detect at the end, before a command writes.
    @Test("Tables behind the end of the log aren't written to")
    func tablesBehindLog() async throws {
        let folder = try await copy("UPDATE posts SET _position = 2, title = 'older' WHERE id = 'b'")
        let outcome = try ToolProcess.run(["undo", "--yes"], store: folder.path())
        #expect(outcome.status == 5, "\(outcome.errors)")
        #expect(outcome.errors.contains("posts"), "\(outcome.errors)")
        #expect(try ToolProcess.run(["rebuild", "posts"], store: folder.path()).status == 0, "a repair may write")
        #expect(try ToolProcess.run(["undo", "--yes"], store: folder.path()).status == 0)
    }

    /// The machine's failure isn't the store's.
    @Test("No room for temporary files isn't damage")
    func noTemporarySpace() async throws {
        let folder = try TemporaryFolder()
        let engine = try StorageEngine.open(path: folder.path(), configuration: StorageConfig())
        _ = try await engine.commit(CommitMetadata()) { writer, db in
            try writer.adopt(
                db, "t", "CREATE TABLE t(id INTEGER PRIMARY KEY, v, _position INTEGER NOT NULL DEFAULT 0)")
        }
        // More than the 32 MB that the tables of the check hold in memory.
        _ = try await engine.commit(CommitMetadata()) { _, db in
            try db.execute(
                sql: """
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 700)
                    INSERT INTO t(id, v) SELECT i, zeroblob(64000) FROM n
                    """)
        }
        try await engine.close()
        // In blocks of 512 bytes: room for the index of the write-ahead log, and not for the tables that are compared with.
        let outcome = try ToolProcess.shell("trap '' XFSZ; ulimit -f 2048; storagekit verify", store: folder.path())
        #expect(outcome.status == 4, "\(outcome)")
        #expect(outcome.errors.contains("disk"), "\(outcome)")
        #expect(!outcome.output.contains("DAMAGED"))
    }
}
