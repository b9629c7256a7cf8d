import Foundation
import GRDB
import StorageCore
import StorageEntities
import StorageKit
import StorageLog
import StorageMaintenance
import StorageProjections
import TestSupport
import Testing

/// `storagekit doctor`: every kind of trouble shows, with what repairs it, and a sound store is called sound.
struct DoctorTests {
    @StorageEntity(table: "articles")
    struct Article {
        var id: Int
        var title: String
    }

    private func open(_ path: String, at time: Int64 = SampleStore.start, projections: Bool = false) throws -> Storage {
        var configuration = StorageConfig()
        configuration.clock = StillClock(microseconds: time)
        return try StorageKit.start(at: URL(fileURLWithPath: path), config: configuration) { schema in
            schema.autoSchema(ArticleRecord.self)
            schema.addFullTextSearch(table: "articles", columns: ["title"])
            guard projections else { return }
            schema.addProjection(Titles(name: "good_titles", poison: ""), mode: .async)
            schema.addProjection(Titles(name: "titles", poison: "poison"), mode: .async)
        }.facade
    }

    private func filled(_ folder: TemporaryFolder) async throws -> String {
        let storage = try open(folder.path())
        try await storage.save((1...500).map { Article(id: $0 * 7, title: "title \($0)") })
        for id in 1...40 { try await storage.delete(Article.self, id: id * 7) }
        try await storage.save((100...120).map { Article(id: $0 * 7, title: "changed \($0)") })
        try await storage.close()
        return folder.path()
    }

    /// Changes the file as a program does that knows nothing of history.
    private func meddle(_ path: String, _ sql: String) throws {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.inDatabase { db in
            db.add(function: DatabaseFunction("storage_engine", argumentCount: 0) { _ in 1 })
            try db.execute(sql: sql)
        }
        try queue.close()
    }

    private func check(_ name: String, _ path: String, _ arguments: String...) throws {
        try GoldenOutputTests.check(GoldenOutputTests.Case(name, arguments: ["doctor"] + arguments), store: path)
    }

    /// Other programs may have made them, as may a version that didn't refuse them.
    @Test("A store whose tables hide those of SQLite can be maintained")
    func hidingBuiltIn() async throws {
        let folder = try TemporaryFolder()
        let path = try await filled(folder)
        let names = [
            "table_info", "table_xinfo", "table_list", "foreign_key_list", "foreign_key_check", "index_list",
            "index_info", "collation_list", "database_list",
        ]
        let tables = names.map { "CREATE TABLE pragma_\($0)(x);" }.joined()
        try meddle(path, "\(tables) CREATE TABLE dbstat(x); CREATE TABLE json_each(x); CREATE TABLE json_tree(x)")
        let storage = try open(path)
        try await storage.write { try $0.execute("ALTER TABLE articles ADD COLUMN extra TEXT") }
        try await storage.save(Article(id: 9_000, title: "new"))
        #expect(try await storage.verify().findings.map(\.description) == [])
        try await storage.close()
        for arguments in [
            ["doctor"], ["stats"], ["undo", "--yes"], ["schema"], ["verify"], ["rebuild", "--compare"],
            ["rebuild", "articles"], ["at", "t:3", "SELECT count(*) FROM articles"],
        ] {
            let outcome = try ToolProcess.run(arguments, store: path)
            #expect(outcome.status == 0, "\(arguments): \(outcome)")
        }
    }

    @Test("A deep check warns of a row that another program had deleted before it was saved again")
    func foreignDelete() async throws {
        let folder = try TemporaryFolder()
        let path = try await filled(folder)
        try meddle(path, "DELETE FROM articles WHERE id = 3500")
        let storage = try open(path)
        try await storage.save(Article(id: 3500, title: "again"))
        try await storage.close()
        let outcome = try ToolProcess.run(["doctor", "--deep"], store: path)
        #expect(outcome.output.contains("another program had deleted it"))
        #expect(outcome.output.contains("storagekit rebuild articles"))
    }

    @Test("A sound store is called sound")
    func soundStore() async throws {
        let store = try await SampleStore()
        let folder = try TemporaryFolder()
        let path = try await filled(folder)
        #expect(try ToolProcess.run(["doctor", "--deep"], store: path).status == 0)
        try check("doctor", store.path)
        try check("doctor-deep", store.path, "--deep")
        try check("doctor-jsonl", store.path, "--format", "jsonl")
        try check("doctor-json", store.path, "--format", "json", "--deep")
        try check("doctor-fix-nothing", store.path, "--fix")
        try check("doctor-csv", store.path, "--format", "csv")
        try check("doctor-missing", store.folder.path("missing.sqlite"))
    }

    @Test("A pipe with the name of the lock doesn't stop the check")
    func pipeAsLock() async throws {
        let folder = try TemporaryFolder()
        let path = try await filled(folder)
        unlink(path + ".lock")
        #expect(mkfifo(path + ".lock", 0o600) == 0)
        let outcome = try ToolProcess.run(["doctor"], store: path)
        #expect(outcome.output.contains("unknown"), "\(outcome)")
        #expect(!outcome.output.contains("no process has it open"), "\(outcome)")
        #expect(try ToolProcess.run(["note", "head", "x", "--yes"], store: path).status == 4)
    }

    @Test(
        "Drift is found and repaired",
        arguments: [
            ("changed", "UPDATE articles SET title = 'forged' WHERE id = 700"),
            ("deleted", "DELETE FROM articles WHERE id = 840"),
            ("inserted", "INSERT INTO articles(id, title, updatedAt, _position) VALUES (7, 'forged', 0, 3)"),
            ("unpositioned", "INSERT INTO articles(id, title, updatedAt) VALUES (1000000, 'forged', 0)"),
        ])
    func driftIsRepaired(name: String, sql: String) async throws {
        let folder = try TemporaryFolder()
        let path = try await filled(folder)
        let before = try await rows(path)
        try meddle(path, sql)
        #expect(try await rows(path) != before)
        let seen = try ToolProcess.run(["doctor", "--format", "jsonl"], store: path)
        #expect(seen.status == 5)
        #expect(seen.output.contains(#""check":"drift","status":"fail""#), "\(seen.output)")
        if name == "changed" {
            try check("doctor-drift", path)
            try check("doctor-drift-deep", path, "--deep")
            try check("doctor-drift-fix-dry-run", path, "--fix", "--dry-run")
            try check("doctor-drift-fix-dry-run-jsonl", path, "--fix", "--dry-run", "--format", "jsonl")
            try check("doctor-drift-fix", path, "--fix")
        } else {
            #expect(try ToolProcess.run(["doctor", "--deep", "--fix"], store: path).status == 0)
        }
        #expect(try await rows(path) == before)
        #expect(try ToolProcess.run(["verify"], store: path).status == 0)
    }

    /// What `verify` finds is what `--deep --fix` repairs, also where it can't list or name everything.
    @Test(
        "Everything derived is repaired",
        arguments: [
            // More than are listed.
            "UPDATE articles SET title = title || '!'",
            "UPDATE storage_tag SET name = 'forged'",
            "DELETE FROM storage_tombstone; UPDATE articles SET title = 'forged' WHERE id = 700",
            "DROP TABLE storage_fts_32", "DELETE FROM storage_fts_32_idx",
            "UPDATE storage_fts_32_config SET v = 3", "INSERT INTO storage_fts_32_config VALUES ('rank', 'nofunc(1)')",
        ])
    func derivedStateIsRepaired(sql: String) async throws {
        let folder = try TemporaryFolder()
        let path = try await filled(folder)
        #expect(try ToolProcess.run(["tag", "release", "t:2"], store: path).status == 0)
        let before = try await rows(path)
        try meddle(path, sql)
        #expect(try ToolProcess.run(["verify"], store: path).status == 5)
        let fixed = try ToolProcess.run(["doctor", "--deep", "--fix", "--yes"], store: path)
        #expect(fixed.status == 0, "\(fixed.output)\(fixed.errors)")
        #expect(try ToolProcess.run(["verify"], store: path).status == 0)
        #expect(try await rows(path) == before)
    }

    /// Changes what SQLite has noted of an object's definition, and nothing else.
    private func setSchema(_ path: String, of name: String, to sql: String, version: Int) throws {
        let sql = sql.replacingOccurrences(of: "'", with: "''")
        let update = "UPDATE sqlite_schema SET sql = '\(sql)' WHERE name = '\(name)'"
        try meddle(path, "PRAGMA writable_schema = ON; \(update); PRAGMA schema_version = \(version)")
    }

    @Test("A value that its column forbids is drift of the table, and not damage of the file")
    func forbiddenValue() async throws {
        let folder = try TemporaryFolder()
        let path = try await filled(folder)
        let before = try await rows(path)
        let definition = "SELECT sql FROM sqlite_schema WHERE name = 'articles'"
        let known = try await DatabaseQueue(path: path).read { try String.fetchOne($0, sql: definition) }
        let whole = try #require(known)
        #expect(whole.contains("NOT NULL"))
        let lenient = whole.replacingOccurrences(of: "NOT NULL", with: "NULL")
        try setSchema(path, of: "articles", to: lenient, version: 7_001)
        try meddle(path, "UPDATE articles SET title = NULL WHERE id = 700")
        try setSchema(path, of: "articles", to: whole, version: 7_002)
        let fixed = try ToolProcess.run(["doctor", "--fix", "--yes"], store: path)
        #expect(fixed.status == 0, "\(fixed.output)\(fixed.errors)")
        #expect(try await rows(path) == before)
        #expect(try ToolProcess.run(["verify"], store: path).status == 0)
    }

    @Test("A foreign key that refers to nothing is a fault of the schema, and not damage")
    func foreignKeyToNothing() async throws {
        let folder = try TemporaryFolder()
        let path = try await filled(folder)
        try meddle(
            path,
            """
            CREATE TABLE a(id INTEGER PRIMARY KEY, x REFERENCES nowhere(id), y REFERENCES articles(gone));
            CREATE TABLE b(id INTEGER PRIMARY KEY, x REFERENCES articles(title));
            CREATE TABLE c(id INTEGER PRIMARY KEY, x REFERENCES articles(id));
            INSERT INTO a VALUES (1, 1, 1); INSERT INTO b VALUES (1, 1); INSERT INTO c VALUES (1, 700);
            """)
        let reasons = [
            "a: its column \"x\" refers to the table \"nowhere\", which doesn't exist",
            "a: its column \"y\" refers to the column \"gone\" of \"articles\", which doesn't exist",
            "b: one of its foreign keys refers to columns of \"articles\" that have neither a primary key nor a unique index",
        ]
        let verified = try ToolProcess.run(["verify"], store: path)
        #expect(verified.status == 0, "\(verified)")
        let checked = try ToolProcess.run(["doctor"], store: path)
        #expect(checked.status == 0, "\(checked)")
        for reason in reasons {
            #expect(verified.output.contains("? schema \(reason)"), "\(verified.output)")
            #expect(checked.output.contains(reason), "\(checked.output)")
        }
        try meddle(path, "INSERT INTO c VALUES (2, 1)")
        let broken = try ToolProcess.run(["verify"], store: path)
        #expect(broken.status == 5, "\(broken)")
        #expect(broken.output.contains("! file c: a foreign key refers to a missing row"), "\(broken)")
    }

    @Test("The commands of remedies name a table as a shell and the command read it")
    func quotedNames() async throws {
        let folder = try TemporaryFolder()
        let (database, path) = (folder.path("x.db"), folder.path("x.sqlite"))
        try meddle(database, "CREATE TABLE \"a/b c\"(id INTEGER PRIMARY KEY, x REFERENCES \"a/b c\"(id))")
        let adopted = try ToolProcess.run(["adopt", database, "-s", path], store: nil)
        #expect(adopted.status == 0, "\(adopted)")
        try meddle(
            path,
            "CREATE INDEX foreign_index ON \"a/b c\"(x); INSERT INTO \"a/b c\"(id, x) VALUES (1, 2)")
        let checked = try ToolProcess.run(["doctor"], store: path)
        #expect(checked.output.contains("storagekit rebuild -s \(path) 'a/b c'\n"), "\(checked)")
        #expect(checked.output.contains("storagekit blame -s \(path) 'a%2Fb c/ID'\n"), "\(checked)")
    }

    /// The index is made to skip a row while that is deleted, so it keeps an entry without a row.
    @Test("An index that doesn't fit its table is repaired")
    func damagedIndex() async throws {
        let folder = try TemporaryFolder()
        let path = try await filled(folder)
        let storage = try open(path)
        try await storage.write { try $0.execute("CREATE INDEX by_title ON articles(title)") }
        try await storage.close()
        let before = try await rows(path)
        let whole = "CREATE INDEX by_title ON articles(title)"
        try setSchema(path, of: "by_title", to: whole + " WHERE id <> 700", version: 7_001)
        try meddle(path, "DELETE FROM articles WHERE id = 700")
        try setSchema(path, of: "by_title", to: whole, version: 7_002)
        let found = try ToolProcess.run(["verify"], store: path)
        #expect(found.output.contains("wrong # of entries in index by_title"), "\(found.output)")
        let fixed = try ToolProcess.run(["doctor", "--deep", "--fix", "--yes"], store: path)
        #expect(fixed.status == 0, "\(fixed.output)\(fixed.errors)")
        #expect(try await rows(path) == before)
        #expect(try ToolProcess.run(["verify"], store: path).status == 0)
    }

    @Test("A dropped full-text index is found at once, and doesn't keep the store from being written to")
    func droppedIndex() async throws {
        let folder = try TemporaryFolder()
        let path = try await filled(folder)
        try meddle(path, "DROP TABLE storage_fts_32")
        let found = try ToolProcess.run(["doctor"], store: path)
        #expect(found.status == 5)
        #expect(found.output.contains("the full-text index of articles was dropped or changed"), "\(found.output)")
        #expect(try ToolProcess.run(["tag", "release", "t:2"], store: path).status == 0)
        #expect(try ToolProcess.run(["verify"], store: path).status == 0)
    }

    private func rows(_ path: String) async throws -> [String] {
        try await DatabaseQueue(path: path).read { db in
            try String.fetchAll(db, sql: "SELECT id || ' ' || title || ' ' || _position FROM articles ORDER BY id")
        }
    }

    @Test(
        "An interrupted rebuild is reported until it is resumed or discarded",
        arguments: [["rebuild"], ["rebuild", "--abandon"]])
    func interruptedRebuild(next: [String]) async throws {
        let folder = try TemporaryFolder()
        let path = try await filled(folder)
        let storage = try open(path)
        let rebuilding = Task {
            var pace = Rebuild.Pace()
            (pace.limit, pace.collects) = (50, false)
            return try await Rebuild(storage.engine, pace: pace) { _ in withUnsafeCurrentTask { $0?.cancel() } }.run()
        }
        await #expect(throws: CancellationError.self) { try await rebuilding.value }
        try await storage.close()
        let found = try ToolProcess.run(["doctor"], store: path)
        #expect(found.status == 0, "\(found.output)")
        #expect(found.output.contains("a rebuild isn't finished: articles"), "\(found.output)")
        #expect(try ToolProcess.run(["verify"], store: path).status == 0)
        let outcome = try ToolProcess.run(next, store: path)
        #expect(outcome.status == 0, "\(outcome.errors)")
        let again = try ToolProcess.run(["doctor"], store: path)
        #expect(!again.output.contains("leftovers"), "\(again.output)")
    }

    @Test("A projection that throws is named")
    func throwingProjection() async throws {
        let folder = try TemporaryFolder()
        let storage = try open(folder.path(), projections: true)
        for (id, title) in [(1, "one"), (2, "poison"), (3, "three")] {
            let receipt = try await storage.save(Article(id: id, title: title))
            try await storage.waitForProjections(through: receipt, of: "good_titles")
        }
        await #expect(throws: StorageError.self) {
            try await storage.waitForProjections(
                through: CommitReceipt(commit: nil, first: 0, last: storage.head, time: 0), of: "titles")
        }
        let open = try ToolProcess.run(["doctor"], store: folder.path())
        #expect(open.output.contains("process \(getpid()) has it open for writing"))
        try await storage.close()
        try check("doctor-projection", folder.path())
        try check("doctor-projection-fix", folder.path(), "--fix")
    }

    @Test("Damage of the log itself isn't repaired")
    func unrepairableDamage() async throws {
        let folder = try TemporaryFolder()
        let path = try await filled(folder)
        for (name, sql) in [
            (
                "gap",
                "DELETE FROM storage_log WHERE position = (SELECT max(position) FROM storage_log WHERE position < 520)"
            ),
            ("clock", "UPDATE storage_log SET first_time = first_time - 1 WHERE position > 520"),
            ("schema", "CREATE INDEX foreign_index ON articles(title)"),
        ] {
            let copy = folder.path("\(name).sqlite")
            try FileManager.default.copyItem(atPath: path, toPath: copy)
            try meddle(copy, sql)
            try check("doctor-damaged-\(name)", copy)
        }
        let fixed = try ToolProcess.run(["doctor", "--fix"], store: folder.path("schema.sqlite"))
        #expect(fixed.status == 5, "an index of somebody else isn't ours to drop")
        try meddle(folder.path("schema.sqlite"), "UPDATE articles SET title = 'forged'")
        for arguments in [["doctor", "--fix"], ["doctor", "--fix", "--deep"]] {
            let refused = try ToolProcess.run(arguments, store: folder.path("schema.sqlite"))
            #expect(refused.status == 5, "not even by rebuilding its table: \(refused.output)")
        }
        let indexes = try await DatabaseQueue(path: folder.path("schema.sqlite")).read { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema WHERE name = 'foreign_index'")
        }
        #expect(indexes == 1)
        // A guard that is gone can't be rebuilt from the log; rows can.
        let unguarded = folder.path("unguarded.sqlite")
        try FileManager.default.copyItem(atPath: path, toPath: unguarded)
        try meddle(unguarded, "DROP TRIGGER storage_log_update; UPDATE articles SET title = 'forged'")
        #expect(try ToolProcess.run(["doctor", "--fix"], store: unguarded).status == 8)
        // A file that is damaged at its root.
        let torn = folder.path("torn.sqlite")
        try FileManager.default.copyItem(atPath: path, toPath: torn)
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: torn))
        try handle.seek(toOffset: 100)
        try handle.write(contentsOf: Data(repeating: 0xA5, count: 3_000))
        try handle.close()
        for command in ["doctor", "verify", "log"] {
            let outcome = try ToolProcess.run([command], store: torn)
            #expect(outcome.status == 5, "\(command)")
            #expect(outcome.errors.contains("Without one, sqlite3 \(torn) .recover may"), "\(outcome.errors)")
        }
    }

    @Test("A clock ahead is a warning", arguments: [1, 5 * 366])
    func clockAhead(days: Int64) async throws {
        let folder = try TemporaryFolder()
        let now = Int64(Date().timeIntervalSince1970 * 1_000_000)
        var storage = try open(folder.path(), at: now - 3_600_000_000)
        try await storage.save(Article(id: 1, title: "an hour ago"))
        try await storage.close()
        storage = try open(folder.path(), at: now + days * 86_400_000_000)
        try await storage.save(Article(id: 2, title: "in the future"))
        try await storage.close()
        let outcome = try ToolProcess.run(["doctor", "--format", "jsonl"], store: folder.path())
        #expect(outcome.status == 0)
        let line = try #require(outcome.output.split(separator: "\n").first { $0.contains(#""check":"clock""#) })
        #expect(line.contains(#""status":"warn""#))
        #expect(line.contains("storagekit restore") == (days > 365), "\(line)")
        guard let advice = line.firstRange(of: "--to "), days > 365 else { return }
        // It can be followed as printed.
        let point = String(line[advice.upperBound...].prefix { $0 != " " })
        let repaired = folder.path("repaired.sqlite")
        let restored = try ToolProcess.run(["restore", folder.path(), "--to", point, "-o", repaired], store: nil)
        #expect(restored.status == 0, "\(restored.errors)")
        let again = try ToolProcess.run(["doctor", "--format", "jsonl"], store: repaired)
        #expect(again.output.contains(#""check":"clock","status":"ok""#), "\(again.output)")
    }
}
