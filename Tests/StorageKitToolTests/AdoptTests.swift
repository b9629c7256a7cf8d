import Foundation
import GRDB
import StorageCore
import StorageEntities
import StorageKit
import StorageLog
import StorageMaintenance
import TestSupport
import Testing

/// `storagekit adopt`: a database that was made without StorageKit keeps every row, and records every later change.
struct AdoptTests {
    /// Every row of a table, byte for byte, without what history adds.
    static func rows(of table: String, at path: String) throws -> [String] {
        try DatabaseQueue(path: path).read { db in
            let columns = try db.columns(in: table).map(\.name).filter { $0 != "_position" }
            let values = columns.map { "typeof(\"\($0)\") || ':' || quote(\"\($0)\") " }.joined(
                separator: " || '|' || ")
            return try String.fetchAll(db, sql: "SELECT rowid || '|' || \(values) FROM \"\(table)\" ORDER BY rowid")
        }
    }

    static func objects(at path: String) throws -> [String] {
        try DatabaseQueue(path: path).read { db in
            try String.fetchAll(
                db,
                sql: """
                    SELECT type || ' ' || name || ' ' || coalesce(iif(type = 'table', '', sql), '') FROM sqlite_schema
                    WHERE name NOT LIKE 'storage\\_%' ESCAPE '\\' AND tbl_name NOT LIKE 'storage\\_%' ESCAPE '\\' ORDER BY 1
                    """)
        }
    }

    private func run(_ arguments: String..., store: String? = nil) throws -> ToolProcess.Outcome {
        try ToolProcess.run(arguments, store: store)
    }

    private func open(_ path: String) throws -> Storage { try StorageKit.start(at: URL(fileURLWithPath: path)).facade }

    @Test("The suggested store is another file", arguments: ["x.sqlite", "x.db"])
    func suggestedStore(database: String) throws {
        let folder = try TemporaryFolder()
        let path = folder.path(database)
        try DatabaseQueue(path: path).write { try $0.execute(sql: "CREATE TABLE t(id INTEGER PRIMARY KEY)") }
        let outcome = try run("adopt", path)
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains(database == "x.db" ? "-s x.sqlite" : "-s x-store.sqlite"), "\(outcome.errors)")
    }

    @Test("A sample database keeps its rows and records every later change")
    func adoptingSampleDatabase() async throws {
        let folder = try TemporaryFolder()
        let (database, store) = (folder.path("chinook.db"), folder.path("app.sqlite"))
        try ChinookDatabase.make(at: database)
        let before = try Data(contentsOf: URL(fileURLWithPath: database))
        let adopted = try run("adopt", database, "-s", store)
        #expect(adopted.status == 0, "\(adopted.errors)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: database)) == before)
        for table in ChinookDatabase.tables {
            #expect(try Self.rows(of: table, at: store) == Self.rows(of: table, at: database), "\(table)")
        }
        #expect(try Self.objects(at: store) == Self.objects(at: database))

        let storage = try open(store)
        #expect(try await storage.verify().findings.map(\.description) == [])
        let start = storage.head
        let log = try run("log", "Invoice", "--format", "jsonl", store: store).output
        #expect(log.contains("\"reason\":\"adopted chinook.db\""))
        #expect(log.contains("\"Invoice\":{\"insert\":413,\"update\":0,\"delete\":0}"), "\(log)")
        // A trigger, a cascade over two tables, a bulk update, a statement that replaces, and one that changes nothing.
        try await storage.write(actor: "anna") { tx in
            try tx.execute("INSERT INTO InvoiceLine(InvoiceId, TrackId, UnitPrice, Quantity) VALUES (1, 1, 0.99, 2)")
            try tx.execute("DELETE FROM Customer WHERE CustomerId = 7")
            try tx.execute("UPDATE Track SET UnitPrice = UnitPrice + 1 WHERE GenreId = 1")
            try tx.execute("INSERT OR REPLACE INTO Genre(GenreId, Name) VALUES (4, 'J-Pop')", [])
            try tx.execute("UPDATE Artist SET Name = Name")
        }
        #expect(try await storage.verify().findings.map(\.description) == [])
        let changes = try await storage.read { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM Track WHERE GenreId = 1") ?? 0
        }
        // One line and its invoice's total; a customer, 7 invoices, 35 lines; the tracks; a delete and an insert.
        #expect(storage.head - start == Int64(2 + 43 + changes + 2))
        let invoice = try run("history", "Invoice/1", "--format", "jsonl", store: store).output
        #expect(invoice.split(separator: "\n").map { $0.contains("\"op\":\"insert\"") } == [true, false], "\(invoice)")
        try await storage.rebuild()
        #expect(try await storage.verify().findings.map(\.description) == [])
        try await storage.close()
        let past = try run(
            "at", "@\(start)", "SELECT count(*) AS n FROM InvoiceLine", "--format", "jsonl", store: store)
        #expect(past.output == "{\"n\":2065}\n", "\(past.errors)")
    }

    @Test("A database isn't replaced by its own store")
    func databaseIsItsOwnStore() throws {
        let folder = try TemporaryFolder()
        let database = folder.path("chinook.db")
        try ChinookDatabase.make(at: database)
        let before = try Data(contentsOf: URL(fileURLWithPath: database))
        for way in ["--yes", "--dry-run"] {
            let refused = try run("adopt", database, "-s", database, "--force", way)
            #expect(refused.status == 7, "\(refused.errors)")
            #expect(refused.errors.contains("is the source file itself"), "\(refused.errors)")
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: database)) == before)
    }

    @Test("Obstacles are reported")
    func obstacles() throws {
        let folder = try TemporaryFolder()
        let database = folder.path("small.db")
        let queue = try DatabaseQueue(path: database)
        try queue.write {
            try $0.execute(sql: "CREATE TABLE t(id INTEGER PRIMARY KEY); CREATE TABLE u(k TEXT PRIMARY KEY)")
        }
        try queue.close()
        func run(_ arguments: String...) throws -> ToolProcess.Outcome {
            try ToolProcess.run(["adopt"] + arguments, store: nil)
        }
        let kept = database + ".before-adopt"
        try FileManager.default.copyItem(atPath: database, toPath: kept)
        let refused = try run(database, "--in-place", "--yes")
        #expect(refused.status == 7, "\(refused.errors)")
        #expect(refused.errors.contains("--no-backup"), "\(refused.errors)")
        #expect(try run(database, "t", "--in-place", "--yes", "--no-backup").status == 0)
        let again = try run(database, "t", "--in-place", "--yes")
        #expect(again.status == 7, "\(again.errors)")
        #expect(again.errors.contains("history already"), "\(again.errors)")
        #expect(try run(database, "nope", "--in-place", "--yes").status == 3)
        #expect(try run(database, "--in-place", "--yes").status == 0)
    }

    @Test("A database that isn't adopted in place stays alone")
    func nothingBesideRefused() throws {
        let folder = try TemporaryFolder()
        let database = folder.path("small.db")
        let queue = try DatabaseQueue(path: database)
        try queue.write { try $0.execute(sql: "CREATE TABLE t(k TEXT PRIMARY KEY) WITHOUT ROWID") }
        try queue.close()
        let refused = try run("adopt", database, "t", "--in-place", "--yes")
        #expect(refused.status != 0, "\(refused)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["small.db"])
        // Another program may have a lock of this name.
        try Data("1".utf8).write(to: URL(fileURLWithPath: database + ".lock"))
        #expect(try run("adopt", database, "t", "--in-place", "--yes").status == refused.status)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
                == ["small.db", "small.db.lock"])
    }

    @Test("A file becomes a store in place", arguments: ["DELETE", "WAL"])
    func adoptingInPlace(mode: String) async throws {
        let folder = try TemporaryFolder()
        let (database, copy) = (folder.path("shop.db"), folder.path("copy.db"))
        try ChinookDatabase.make(at: database, tracks: 300)
        try FileManager.default.copyItem(atPath: database, toPath: copy)
        let other = try DatabaseQueue(path: database)
        try await other.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = \(mode)") }
        // In rollback mode a connection that reads nothing can't be detected, so it is made to read.
        try other.inDatabase { db in
            try db.execute(sql: "\(mode == "DELETE" ? "BEGIN; " : "")SELECT count(*) FROM Track")
            let refused = try run("adopt", database, "--in-place", "--yes")
            #expect(refused.status == 4)
            #expect(refused.errors.contains("Another process has"))
            if mode == "DELETE" { try db.execute(sql: "COMMIT") }
        }
        try other.close()
        let inode = try FileManager.default.attributesOfItem(atPath: database)[.systemFileNumber] as? Int
        let adopted = try run("adopt", database, "--in-place", "--yes")
        #expect(adopted.status == 0, "\(adopted.errors)")
        #expect(try FileManager.default.attributesOfItem(atPath: database)[.systemFileNumber] as? Int == inode)
        for table in ChinookDatabase.tables {
            #expect(try Self.rows(of: table, at: database) == Self.rows(of: table, at: copy), "\(table)")
            #expect(
                try Self.rows(of: table, at: database + ".before-adopt") == Self.rows(of: table, at: copy), "\(table)")
        }
        #expect(try run("verify", store: database).status == 0)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path("")).filter { $0.contains("partial") }
                .isEmpty)
        // The same again is refused, and says what can be done.
        #expect(try run("adopt", database, "-s", folder.path("again.sqlite")).status == 7)
    }

    /// A database as it is when its writer is killed in a transaction that SQLite has begun to write to the file.
    private func makeInterrupted(at path: String) throws -> Data {
        let queue = try DatabaseQueue(path: path)
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
            for id in 0..<2_000 { try db.execute(sql: "INSERT INTO t VALUES (?, zeroblob(500))", arguments: [id]) }
        }
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA cache_size = 10; BEGIN; UPDATE t SET v = randomblob(500)")
            for suffix in ["", "-journal"] {
                try FileManager.default.copyItem(atPath: path + suffix, toPath: path + ".killed" + suffix)
            }
            try db.execute(sql: "ROLLBACK")
        }
        try queue.close()
        unlink(path)
        for suffix in ["", "-journal"] { #expect(rename(path + ".killed" + suffix, path + suffix) == 0) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) != before)
        return before
    }

    @Test("A database whose writer was killed is adopted as it was before", arguments: [true, false])
    func interruptedDatabase(inPlace: Bool) async throws {
        let folder = try TemporaryFolder()
        let (database, store) = (folder.path("plain.db"), folder.path("app.sqlite"))
        let before = try makeInterrupted(at: database)
        let way = inPlace ? ["--in-place", "--yes"] : ["-s", store]
        let adopted = try ToolProcess.run(["adopt", database] + way, store: nil)
        #expect(adopted.status == 0, "\(adopted)")
        let rows = try await DatabaseQueue(path: inPlace ? database : store).read {
            try Int.fetchOne($0, sql: "SELECT count(*) FROM t WHERE v = zeroblob(500)")
        }
        #expect(rows == 2_000)
        if !inPlace { #expect(try Data(contentsOf: URL(fileURLWithPath: database)) == before) }
        #expect(!FileManager.default.fileExists(atPath: database + "-journal"))
    }

    @Test("A change that was never finished is named where it can't be undone", .enabled(if: geteuid() != 0))
    func interruptedReadOnlyDatabase() throws {
        let folder = try TemporaryFolder()
        let database = folder.path("plain.db")
        _ = try makeInterrupted(at: database)
        #expect(chmod(database, 0o400) == 0)
        let refused = try run("adopt", database, "-s", folder.path("app.sqlite"))
        #expect(refused.status == 4, "\(refused)")
        #expect(refused.errors.contains("plain.db-journal has a change that was never finished"), "\(refused)")
    }

    /// It was killed while the pages of the file were replaced, after the original was saved.
    @Test("Adopting in place works again after it was killed, with the original that was saved")
    func inPlaceAgain() throws {
        let folder = try TemporaryFolder()
        let (database, first) = (folder.path("plain.db"), folder.path("first.db"))
        let saved = database + ".before-adopt"
        try makeInterrupted(at: database).write(to: URL(fileURLWithPath: first))
        #expect(try run("adopt", first, "--in-place", "--yes").status == 0)
        var copy = try Data(contentsOf: URL(fileURLWithPath: first + ".before-adopt"))
        copy[copy.count - 1] ^= 1
        try copy.write(to: URL(fileURLWithPath: saved))
        let refused = try run("adopt", database, "--in-place", "--yes")
        #expect(refused.status == 7, "\(refused)")
        #expect(refused.errors.contains("where the original database would be saved"), "\(refused)")
        #expect(rename(first + ".before-adopt", saved) == 0)
        let again = try run("adopt", database, "--in-place", "--yes")
        #expect(again.status == 0, "\(again)")
        #expect(try run("verify", store: database).status == 0)
        copy[copy.count - 1] ^= 1
        #expect(try Data(contentsOf: URL(fileURLWithPath: saved)) == copy)
    }

    /// Killed at a random moment, the file is what it was or the store.
    @Test("Killed while adopting in place, the file is old or new", arguments: ["DELETE", "WAL"])
    func killedInPlace(mode: String) async throws {
        let folder = try TemporaryFolder()
        let original = folder.path("original.db")
        try ChinookDatabase.make(at: original, tracks: 1_000)
        let queue = try DatabaseQueue(path: original)
        try await queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = \(mode)") }
        try queue.close()
        let expected = try Self.rows(of: "Track", at: original)
        var longest = Duration.milliseconds(50)
        var (old, new) = (0, 0)
        for round in 0..<80 {
            // Further rounds only until it was killed both before and after.
            if round >= Int(8 * max(1, min(4, testScale))), old > 0, new > 0 { break }
            let database = folder.path("\(round).db")
            try FileManager.default.copyItem(atPath: original, toPath: database)
            // The last moments are those in which the file itself is written; the first one isn't killed.
            let delay = round == 0 ? nil : longest * Double.random(in: 0.5...1.05)
            let arguments = ["adopt", database, "--in-place", "--yes", "--no-backup"]
            let taken = try await ToolProcess.runSilently(arguments, store: nil, killedAfter: delay)
            if round == 0 { longest = taken }
            #expect(try Self.rows(of: "Track", at: database) == expected, "round \(round)")
            let isStore = try await DatabaseQueue(path: database).read { try $0.tableExists("storage_log") }
            let adopted = try await DatabaseQueue(path: database).read { db in
                try db.columns(in: "Track").contains { $0.name == "_position" }
            }
            #expect(adopted == isStore, "round \(round)")
            if isStore { #expect(try run("verify", store: database).status == 0, "round \(round)") }
            if isStore { new += 1 } else { old += 1 }
            // The first run may have been slower than the others.
            if round > 0, old == 0 { longest = longest * 0.8 }
        }
        #expect(old > 0, "\(old) old, \(new) new")
        #expect(new > 0, "\(old) old, \(new) new")
    }

    @Test("Tables of every kind are adopted or refused with the reason")
    func tablesOfEveryKind() async throws {
        let folder = try TemporaryFolder()
        let (database, store) = (folder.path("odd.db"), folder.path("app.sqlite"))
        let queue = try DatabaseQueue(path: database)
        try await queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE "größe ""x"" 日本"("na me" TEXT PRIMARY KEY, "wért" BLOB, plain);
                    INSERT INTO "größe ""x"" 日本" VALUES ('a', x'00FF', -0.0), ('b', zeroblob(0), 9223372036854775807), ('ć', '', 1e308);
                    CREATE TABLE pairs(a INTEGER, b TEXT COLLATE NOCASE, c REAL, PRIMARY KEY (a, b));
                    INSERT INTO pairs VALUES (1, 'x', 1), (1, 'y', NULL), (-5, '', 0.5);
                    CREATE TABLE later(id INTEGER PRIMARY KEY, a TEXT);
                    INSERT INTO later VALUES (1, 'old'), (9223372036854775807, NULL), (-9223372036854775808, 'first');
                    ALTER TABLE later ADD COLUMN b TEXT NOT NULL DEFAULT 'given';
                    CREATE TABLE strict_ones(id INT PRIMARY KEY NOT NULL, n ANY) STRICT;
                    INSERT INTO strict_ones VALUES (1, x'00'), (2, 2.5);
                    CREATE TABLE empty(id TEXT PRIMARY KEY);
                    CREATE TABLE keyless(a, b);
                    INSERT INTO keyless VALUES (1, 2), (1, 2);
                    CREATE TABLE without_rowid(id TEXT PRIMARY KEY, v) WITHOUT ROWID;
                    CREATE TABLE computed(id INTEGER PRIMARY KEY, a, b AS (a + 1));
                    CREATE TABLE null_keys(id TEXT PRIMARY KEY, v);
                    INSERT INTO null_keys VALUES (NULL, 1), (NULL, 2);
                    CREATE TABLE with_nul(id INTEGER PRIMARY KEY, v TEXT);
                    INSERT INTO with_nul VALUES (1, 'fine'), (2, 'a' || char(0) || 'b');
                    CREATE TABLE latin(id INTEGER PRIMARY KEY, v TEXT);
                    INSERT INTO latin VALUES (1, CAST(x'E9' AS TEXT));
                    CREATE TABLE taken(id INTEGER PRIMARY KEY, _Position);
                    CREATE VIRTUAL TABLE found USING fts5(v, content='later', content_rowid='id');
                    CREATE VIEW wide AS SELECT * FROM later;
                    PRAGMA user_version = 42;
                    """)
        }
        try queue.close()
        func check(_ name: String, _ arguments: String...) throws {
            try GoldenOutputTests.check(GoldenOutputTests.Case(name, arguments: arguments), store: store)
        }
        try check("adopt-dry-run", "adopt", database, "--dry-run")
        try check("adopt-named", "adopt", database, "keyless", "pairs")
        try check("adopt-unknown", "adopt", database, "pears")
        #expect(!FileManager.default.fileExists(atPath: store))
        try check("adopt", "adopt", database)
        try check("adopt-exists", "adopt", database)
        try check("adopt-json", "adopt", database, "--dry-run", "--format", "json")
        try check("adopt-jsonl", "adopt", database, "--dry-run", "--format", "jsonl")
        try check("adopt-csv", "adopt", database, "--format", "csv")
        try check("adopt-in-place-asks", "adopt", database, "--in-place")
        try check("adopt-in-place-store", "adopt", database, "--in-place", "-s", store)
        for table in ["pairs", "later", "strict_ones", "empty", "keyless", "with_nul", "latin"] {
            #expect(try Self.rows(of: table, at: store) == Self.rows(of: table, at: database), "\(table)")
        }
        let storage = try open(store)
        #expect(try await storage.verify().findings.map(\.description) == [])
        let version = try await storage.read { try Int.fetchOne($0, sql: "PRAGMA user_version") }
        #expect(version == 42)
        // What couldn't be distinguished from another row later is refused now.
        await #expect(throws: StorageError.self) {
            try await storage.write { try $0.execute("INSERT INTO empty VALUES (NULL)") }
        }
        // A table that becomes adoptable can be adopted later, in the store itself.
        try await storage.write { tx in
            try tx.execute("UPDATE null_keys SET id = 'k' || v")
        }
        try await storage.close()
        let later = try run("adopt", store, "null_keys", "--in-place", "--yes")
        #expect(later.status == 0, "\(later.errors)")
        let again = try open(store)
        let log = try run("log", "null_keys", "--format", "jsonl", store: store).output
        #expect(log.contains("\"null_keys\":{\"insert\":2,\"update\":0,\"delete\":0}"), "\(log)")
        #expect(try await again.verify().findings.isEmpty)
        try await again.close()
    }

    @Test("Column-counting triggers and broken foreign keys refuse the whole")
    func refusedAsWhole() throws {
        let folder = try TemporaryFolder()
        for (name, sql) in [
            (
                "trigger",
                "CREATE TABLE a(id INTEGER PRIMARY KEY, v); CREATE TABLE b(id INTEGER PRIMARY KEY, v); CREATE TRIGGER t AFTER INSERT ON a BEGIN INSERT INTO b VALUES (new.id, new.v); END"
            ),
            (
                "foreign",
                "PRAGMA foreign_keys = OFF; CREATE TABLE a(id INTEGER PRIMARY KEY, b REFERENCES a(id)); INSERT INTO a VALUES (1, 9)"
            ),
            ("utf16", "PRAGMA encoding = 'UTF-16'; CREATE TABLE a(id INTEGER PRIMARY KEY)"),
            ("reserved", "CREATE TABLE storage_shed(id INTEGER PRIMARY KEY)"),
        ] {
            let (database, store) = (folder.path("\(name).db"), folder.path("\(name).sqlite"))
            var configuration = Configuration()
            configuration.foreignKeysEnabled = false
            let queue = try DatabaseQueue(path: database, configuration: configuration)
            try queue.inDatabase { try $0.execute(sql: sql) }
            try queue.close()
            try GoldenOutputTests.check(
                GoldenOutputTests.Case("adopt-refused-\(name)", arguments: ["adopt", database]), store: store)
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: folder.path("")).allSatisfy {
                    !$0.hasPrefix("\(name).sqlite")
                })
        }
    }

    /// What is adopted is first in a write-ahead log, and has to be brought into the file that gets the name. The limit of a
    /// file's size stands for a full disk: the log fits, and the file doesn't.
    @Test("A disk that fills up leaves what was there", arguments: ["new", "replacing", "in place"])
    func fullDisk(_ way: String) throws {
        let folder = try TemporaryFolder()
        let (database, store) = (folder.path("shop.db"), folder.path("app.sqlite"))
        let queue = try DatabaseQueue(path: database)
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE items(id INTEGER PRIMARY KEY, name TEXT);
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
                    INSERT INTO items SELECT i, hex(randomblob(40)) FROM n;
                    CREATE TABLE ballast(bytes); INSERT INTO ballast VALUES (randomblob(2000000));
                    """)
        }
        try queue.close()
        if way == "replacing" {
            #expect(try run("adopt", database, "items", "-s", store).status == 0)
        }
        let name = way == "in place" ? database : store
        let before = try? Data(contentsOf: URL(fileURLWithPath: name))
        let size = try Data(contentsOf: URL(fileURLWithPath: database)).count
        let rest =
            switch way {
            case "in place": "'\(database)' items --in-place --yes --no-backup"
            case "replacing": "'\(database)' items -s '\(store)' --force --yes"
            default: "'\(database)' items -s '\(store)'"
            }
        for room in [0, 8 << 10, 32 << 10] {
            // In blocks of 512 bytes, as the shell counts them.
            let outcome = try ToolProcess.shell(
                "trap '' XFSZ; ulimit -f \((size + room) / 512); storagekit adopt \(rest)", store: nil)
            #expect(outcome.status == 4, "\(room): \(outcome)")
            #expect(outcome.errors.contains("disk"), "\(room): \(outcome)")
            #expect((try? Data(contentsOf: URL(fileURLWithPath: name))) == before, "\(room)")
        }
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.url.path).allSatisfy { !$0.contains("partial") })
        #expect(try ToolProcess.shell("storagekit adopt \(rest)", store: nil).status == 0)
        #expect(try run("verify", store: name).status == 0)
    }

    @StorageEntity(table: "places")
    struct Place {
        var id: Int
        var name: String
        var height: Double
    }

    @Test("A table of a migration becomes an entity")
    func migrationTableBecomesEntity() async throws {
        let folder = try TemporaryFolder()
        for round in 0..<2 {
            let storage = try StorageKit.start(at: URL(fileURLWithPath: folder.path())) { schema in
                schema.migration("places") { db in
                    try db.execute(
                        sql: """
                            CREATE TABLE places(id INTEGER PRIMARY KEY, name VARCHAR(80) NOT NULL, height NUMERIC(10,2) NOT NULL);
                            INSERT INTO places VALUES (1, 'Zugspitze', 2962), (2, 'Brocken', 1141.2)
                            """)
                }
                schema.adopt("places")
                schema.autoSchema(PlaceRecord.self)
            }.facade
            let place = try #require(await storage.get(Place.self, id: 2))
            #expect(place.height == (round == 0 ? 1141.2 : 1141))
            try await storage.save(Place(id: 2, name: "Brocken", height: 1141))
            let history = try await storage.history(Place.self, id: 2)
            #expect(history.first?.operation == .insert)
            #expect(history.map(\.operation) == [.insert, .update])
            let findings = try await storage.verify().findings
            #expect(findings.isEmpty, "\(findings)")
            try await storage.close()
        }
    }
}
