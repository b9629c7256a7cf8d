import Foundation
import GRDB
import SchemaTestSupport
import StorageCore
import StorageEntities
import StorageKit
import StorageLog
import StorageMaintenance
import TestSupport
import Testing

/// `backup` and `restore`: what gets the final name is whole, and is what the store was.
@Suite struct BackupTests {
    @StorageEntity(table: "notes")
    struct Note {
        var id: Int
        var text: String
    }

    @StorageEntity(table: "notes")
    struct LaterNote {
        var id: Int
        var text: String
        var stars: Int?
    }

    private struct Log: Equatable {
        var rows: [String]
        init(_ path: String, through position: Int64 = .max) throws {
            rows = try DatabaseQueue(path: path).read { db in
                try String.fetchAll(
                    db,
                    sql: """
                        SELECT position || ' ' || last || ' ' || sealed || ' ' || hex(body) FROM storage_log
                        WHERE last <= ? ORDER BY position
                        """, arguments: [position])
            }
        }
    }

    private func isWhole(_ path: String) throws -> Bool {
        try ToolProcess.run(["verify"], store: path).status == 0
    }

    private func export(_ path: String) throws -> [Substring] {
        try ToolProcess.run(["export"], store: path).output.split(separator: "\n")
    }

    /// The file has another name until it is complete. It would take the room of a whole store, under a name that nobody looks for.
    @Test("A command that a signal ends leaves no unfinished file")
    func endedBySignal() throws {
        let folder = try TemporaryFolder()
        let lines = (1...40_000).map {
            #"{"tx":\#($0 / 100),"op":"insert","table":"t","id":"\#($0)","row":{"x":\#($0)}}"#
        }
        let file = folder.path("in.jsonl")
        try (lines.joined(separator: "\n") + "\n").write(toFile: file, atomically: true, encoding: .utf8)
        #expect(try ToolProcess.run(["import", "--quiet", file], store: folder.path()).status == 0)
        func unfinished() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: folder.url.path).filter { $0.contains(".partial-") }
        }
        func ended(by number: Int32, _ arguments: [String]) throws -> Process {
            let process = ToolProcess.prepared(arguments, store: folder.path())
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.start()
            while try process.isRunning && unfinished().isEmpty { sched_yield() }
            kill(process.processIdentifier, number)
            process.waitForEnd()
            return process
        }
        for number in [SIGTERM, SIGINT, SIGHUP] {
            for command in [["backup"], ["restore", folder.path(), "-o"]] {
                var process = try ended(by: number, command + [folder.path("\(number).0.\(command[0])")])
                // It may have ended before the signal.
                for attempt in 1..<10 where process.terminationReason == .exit && process.terminationStatus == 0 {
                    process = try ended(by: number, command + [folder.path("\(number).\(attempt).\(command[0])")])
                }
                #expect(process.terminationReason == .uncaughtSignal, "\(command), signal \(number)")
                #expect(process.terminationStatus == number, "\(command), signal \(number)")
                #expect(try unfinished() == [], "\(command), signal \(number)")
            }
        }
    }

    /// They hold copies of the store, and their names are unknown to those who could remove them.
    @Test(
        "A command that a signal ends leaves no temporary folder, and ends the command that it runs",
        arguments: [
            (["import", "-", "--dry-run"], SIGTERM), (["import", "-", "--dry-run"], SIGINT), (["bisect"], SIGTERM),
            (["bisect"], SIGHUP),
        ])
    func temporaryFolders(command: [String], number: Int32) async throws {
        let store = try await SampleStore()
        let folder = try TemporaryFolder()
        let temporary = folder.path("temporary")
        try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: false)
        let check = "trap 'touch ended; exit 0' TERM HUP; touch begun; while :; do sleep 0.05; done"
        let process = ToolProcess.prepared(
            command == ["bisect"] ? command + ["--database", "--run", check] : command, store: store.path)
        process.environment?["TMPDIR"] = temporary
        process.currentDirectoryURL = folder.url
        process.standardInput = Pipe()
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.start()
        func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: folder.path(name)) }
        try await eventually {
            try command == ["bisect"]
                ? exists("begun") : !FileManager.default.contentsOfDirectory(atPath: temporary).isEmpty
        }
        kill(process.processIdentifier, number)
        process.waitForEnd()
        #expect(process.terminationReason == .uncaughtSignal)
        #expect(process.terminationStatus == number)
        #expect(try FileManager.default.contentsOfDirectory(atPath: temporary) == [])
        if command == ["bisect"] { try await eventually { exists("ended") } }
    }

    /// SQLite gives these names another meaning: a file of that name couldn't be named to it.
    @Test(
        "A backup path that SQLite would interpret, such as :memory:, is refused",
        arguments: [":memory:", "file:backup.sqlite", ""])
    func backupIsFile(name: String) async throws {
        let store = try await SampleStore()
        let folder = try TemporaryFolder()
        let tried = try ToolProcess.run(["backup", name, "--dry-run"], store: store.path, in: folder.url)
        let done = try ToolProcess.run(["backup", name], store: store.path, in: folder.url)
        #expect(done.status == 2, "\(done)")
        #expect(done.errors.contains("\"\(name)\" isn't the path of a file"), "\(done)")
        #expect(tried.errors == done.errors)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [])
        #expect(try ToolProcess.run(["backup", "./:memory:"], store: store.path, in: folder.url).status == 0)
    }

    @Test("A backup is one state of a store that is written to")
    func backupOfBusyStore() async throws {
        let folder = try TemporaryFolder()
        let storage = try StorageKit.start(at: folder.url.appending(path: "store.sqlite")) {
            $0.autoSchema(NoteRecord.self)
            $0.addFullTextSearch(table: "notes", columns: ["text"])
        }.facade
        try await storage.save((0..<5_000).map { Note(id: $0, text: "note \($0)") })
        let writing = Task {
            var number = 0
            while !Task.isCancelled {
                number += 1
                let text = "changed \(number)"
                do {
                    try await storage.save((0..<50).map { Note(id: $0, text: text) })
                } catch is CancellationError {
                    // It came before the save had its turn.
                }
            }
        }
        for number in 0..<(testScale > 1 ? 5 : 3) {
            let url = folder.url.appending(path: "backup \(number)%20?.sqlite")
            let before = storage.head
            let backup = try await storage.backup(to: url)
            #expect(backup.position >= before)
            #expect(backup.isVerified)
            #expect(try isWhole(url.path))
            let copy = try StorageKit.start(at: url) { $0.autoSchema(NoteRecord.self) }.facade
            #expect(copy.head >= backup.position)
            #expect(try await copy.get(Note.self, id: 4_999)?.text == "note 4999")
            try await copy.close()
            await #expect(throws: StorageError.self) { try await storage.backup(to: url) }
        }
        writing.cancel()
        try await writing.value
        await #expect(throws: StorageError.self) {
            try await storage.backup(to: folder.url.appending(path: "store.sqlite"), replacing: true)
        }
        try await storage.close()
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.url.path).allSatisfy { !$0.contains("partial") })
    }

    /// A reader's index of the write-ahead log keeps the size of the file that it has open, and SQLite finds the index by name.
    @Test(
        "A file that is replaced while it is read is whole, and so is what is read",
        arguments: [("backup", 10), ("backup", 2_000), ("restore", 10), ("backup of a removed file", 2_000)])
    func replacedWhileRead(command: String, count: Int) async throws {
        let folder = try TemporaryFolder()
        func store(_ name: String, _ count: Int) async throws -> String {
            let path = folder.path(name)
            let storage = try StorageKit.start(at: URL(fileURLWithPath: path)) { $0.autoSchema(NoteRecord.self) }.facade
            try await storage.save((0..<count).map { Note(id: $0, text: "\($0) of \(name), which is a long text") })
            try await storage.close()
            return path
        }
        func run(_ arguments: [String], on store: String?) throws {
            let outcome = try ToolProcess.run(arguments, store: store)
            #expect(outcome.status == 0, "\(arguments): \(outcome)")
        }
        let (first, second) = (try await store("first.sqlite", 500), try await store("second.sqlite", count))
        let target = folder.path("copy.sqlite")
        try run(["backup", target], on: first)
        let reader = try DatabaseQueue(path: target)
        func readRows() async throws -> Int? {
            try await reader.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM notes") }
        }
        #expect(try await readRows() == 500)
        // A writer leaves the file's size in the index.
        try run(["note", "head", "before", "--yes"], on: target)
        #expect(try await readRows() == 500)
        switch command {
        case "backup": try run(["backup", target, "--force"], on: second)
        case "restore": try run(["restore", second, "-o", target, "--force", "--yes"], on: .none)
        default:
            try FileManager.default.removeItem(atPath: target)
            try run(["backup", target], on: second)
        }
        try run(["verify"], on: target)
        try run(["note", "head", "after", "--yes"], on: target)
        let made = try ToolProcess.run(["sql", "SELECT count(*) FROM notes", "--format", "csv"], store: target)
        #expect(made.output.split(separator: "\n").last.map(String.init) == "\(count)", "\(made)")
        #expect(try await readRows() == 500)
        let check = try await reader.read { try String.fetchAll($0, sql: "PRAGMA integrity_check") }
        #expect(check == ["ok"])
        try reader.close()
        try run(["verify"], on: target)
    }

    /// SQLite begins a copy again after each commit of others, unless a transaction holds the state that is copied.
    @Test("A restore ends while its source is written to")
    func restoreOfBusyStore() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path()
        let storage = try StorageKit.start(at: URL(fileURLWithPath: path)) { $0.autoSchema(NoteRecord.self) }.facade
        let text = String(repeating: "x", count: 100_000)
        try await storage.save((0..<100).map { Note(id: $0, text: "\($0) \(text)") })
        let head = storage.head
        try await storage.close()
        let writer = try DatabaseQueue(path: path)
        let steps = Counter()
        let restore = PointRestore(path) { stage, _, _ in
            guard stage == "copy" else { return }
            let step = steps.add()
            // What is counted below; without a limit, a copy that begins again would never end.
            guard step < 50 else { return }
            try? writer.writeWithoutTransaction { try $0.execute(sql: "PRAGMA user_version = \(step)") }
        }
        let restored = folder.path("restored.sqlite")
        let outcome = try await restore.run(
            head, to: restored, replacing: false, recording: (StorageOperation("restore"), CommitMetadata()))
        #expect(outcome.head.position == head)
        let commits = try await writer.read { try Int.fetchOne($0, sql: "PRAGMA user_version") } ?? 0
        try writer.close()
        #expect((2..<10).contains(commits))
        #expect(try isWhole(restored))
    }

    @Test("A restored store is the log's beginning and its tables")
    func restoredStore() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path()
        let url = URL(fileURLWithPath: path)
        var storage = try StorageKit.start(at: url) { schema in
            schema.autoSchema(NoteRecord.self)
            schema.addFullTextSearch(table: "notes", columns: ["text"])
        }.facade
        var random = SplitMix64(seed: 3)
        func change(_ storage: Storage) async throws {
            let ids = (0..<Int.random(in: 1...40, using: &random)).map { _ in Int.random(in: 0..<200, using: &random) }
            let word = Int.random(in: 0..<1_000_000, using: &random)
            try await storage.write(idempotencyKey: "\(word) \(ids)") { tx in
                for id in Set(ids) {
                    if id % 5 == 0 {
                        try tx.execute("DELETE FROM notes WHERE id = ?", [id])
                    } else {
                        try tx.execute(
                            "INSERT INTO notes(id, text, updatedAt) VALUES (?, ?, 0) ON CONFLICT(id) DO UPDATE SET text = excluded.text",
                            [id, "word \(word)"])
                    }
                }
            }
        }
        for _ in 0..<120 { try await change(storage) }
        try await storage.seal()
        try await storage.close()
        storage = try StorageKit.start(at: url) { schema in
            schema.migration("more") { db in
                try db.execute(sql: "CREATE INDEX notes_text ON notes(text)")
            }
            schema.autoSchema(LaterNoteRecord.self)
            schema.autoSchema(ExtraRecord.self)
        }.facade
        for _ in 0..<60 { try await change(storage) }
        try await storage.write { try $0.execute("DROP TABLE extras") }
        try await storage.close()
        let whole = try export(path)
        let head = try ToolProcess.run(["stats", "--format", "json"], store: path).output
        #expect(head.contains("\"commits\""))
        let points = ["t:1", "t:61", "t:122", "t:123", "head", "head~1", "@0"]
        for point in points + (testScale > 1 ? ["t:2", "t:7", "t:121", "t:150"] : []) {
            let restored = folder.path("restored \(point).sqlite")
            let plan = try ToolProcess.run(
                ["restore", path, "--to", point, "-o", restored, "--format", "json", "--dry-run"], store: nil)
            #expect(!FileManager.default.fileExists(atPath: restored))
            let outcome = try ToolProcess.run(
                ["restore", path, "--to", point, "-o", restored, "--format", "json"], store: nil)
            #expect(outcome.status == 0, "\(point): \(outcome.errors)")
            let done = outcome.output.replacing(#"dry_run":false"#, with: #"dry_run":true"#)
                .replacing(/"recorded":\d+/, with: #""recorded":null"#)
            #expect(plan.output == done, "a dry run prints the same rows")
            #expect(try isWhole(restored), "\(point)")
            let lines = try export(restored)
            #expect(lines[...] == whole.prefix(lines.count), "\(point)")
            // Behind what was restored is one event that records it.
            let end = try await DatabaseQueue(path: restored).read {
                let last = try Int64.fetchOne($0, sql: "SELECT max(last) FROM storage_log") ?? 0
                #expect(try Int64.fetchAll($0, sql: "SELECT id FROM storage_operation") == [last], "\(point)")
                return last - 1
            }
            let kept = try Log(path, through: end)
            #expect(try Log(restored).rows.prefix(kept.rows.count) == kept.rows[...], "\(point)")
            guard point != "@0" else { continue }
            // It is a store like any other: it opens, searches, and takes writes.
            let copy = try StorageKit.start(at: URL(fileURLWithPath: restored)).facade
            #expect(copy.head == end + 1)
            try await change(copy)
            #expect(try await copy.verify().findings.isEmpty, "\(point)")
            try await copy.close()
        }
    }

    @Test("An import resumes in a whole copy, and refuses in an earlier one what is there")
    func resumedImport() throws {
        let folder = try TemporaryFolder()
        let file = folder.path("in.jsonl")
        func write(_ count: Int) throws {
            let lines = (1...count).map { #"{"tx":\#($0),"op":"insert","table":"t","id":"\#($0)","row":{"n":\#($0)}}"# }
            try (lines.joined(separator: "\n") + "\n").write(toFile: file, atomically: true, encoding: .utf8)
        }
        try write(3)
        #expect(try ToolProcess.run(["import", file], store: folder.path()).status == 0)
        let copies = ["head", "t:2"].map { point in (point, folder.path("restored \(point).sqlite")) }
        for (point, copy) in copies {
            let outcome = try ToolProcess.run(["restore", folder.path(), "--to", point, "-o", copy], store: nil)
            #expect(outcome.status == 0, "\(outcome)")
        }
        try write(5)
        let resumed = try ToolProcess.run(["import", file], store: copies[0].1)
        #expect(resumed.status == 0, "\(resumed)")
        #expect(resumed.output.contains("resumed after line 3"), "\(resumed)")
        #expect(try export(copies[0].1).count == 5)
        let refused = try ToolProcess.run(["import", file], store: copies[1].1)
        #expect(refused.status == 7, "\(refused)")
        #expect(try export(copies[1].1).count == 2)
    }

    /// AUTOINCREMENT says that no number is given to two rows, also where the first is gone: their histories would be one.
    @Test("A restored table goes on counting where it was")
    func autoincrement() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path()
        let storage = try StorageKit.start(at: URL(fileURLWithPath: path)) { schema in
            schema.migration("counted") { try $0.execute(sql: CountedTables.sql) }
            for table in CountedTables.names { schema.adopt(table) }
        }.facade
        try await storage.write { tx in
            for statement in CountedTables.insertions(of: "a", "b", "c") { try tx.execute(statement) }
        }
        let inserted = storage.head
        try await storage.write { try $0.execute(CountedTables.deletion) }
        let deleted = storage.head
        try await storage.write { tx in
            for statement in CountedTables.insertions(of: "d", "e") { try tx.execute(statement) }
        }
        try await storage.write { try $0.execute(CountedTables.deletion) }
        try await storage.close()
        // What was used only after the point has no history in the restored store.
        for (point, next) in [("@\(inserted)", 4), ("@\(deleted)", 4), ("head", 6)] {
            let restored = folder.path("restored \(point).sqlite")
            let outcome = try ToolProcess.run(["restore", path, "--to", point, "-o", restored], store: nil)
            #expect(outcome.status == 0, "\(point): \(outcome.errors)")
            let copy = try StorageKit.start(at: URL(fileURLWithPath: restored)).facade
            try await copy.write { tx in
                for statement in CountedTables.insertions(of: "f") { try tx.execute(statement) }
            }
            let ids = try await copy.read { db in
                try CountedTables.names.map { try Int.fetchOne(db, sql: "SELECT id FROM \($0) WHERE text = 'f'") }
            }
            #expect(ids == [next, next], "\(point)")
            #expect(try await copy.verify().findings.isEmpty, "\(point)")
            try await copy.close()
        }
    }

    @StorageEntity(table: "extras")
    struct Extra {
        var id: String
    }

    /// Killed at a random moment, a command leaves its destination absent or whole.
    @Test("A backup isn't replaced by its own beginning")
    func backupIsNotOverwritten() async throws {
        let store = try await SampleStore()
        let backup = store.folder.path("backup.sqlite")
        try #require(try ToolProcess.run(["backup", backup], store: store.path).status == 0)
        let before = try Data(contentsOf: URL(fileURLWithPath: backup))
        let link = store.folder.path("link.sqlite")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: backup)
        for (output, way) in [(backup, "--yes"), (link, "--yes"), (backup, "--dry-run")] {
            let refused = try ToolProcess.run(
                ["restore", backup, "--to", "@1", "-o", output, "--force", way], store: nil)
            #expect(refused.status == 7, "\(refused.errors)")
            #expect(refused.errors.contains("is the source file itself"), "\(refused.errors)")
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: backup)) == before)
    }

    @Test("A file that another program has locked is named", arguments: ["restore", "adopt"])
    func lockedFile(command: String) async throws {
        let store = try await SampleStore()
        let (plain, made) = (store.folder.path("plain.db"), store.folder.path("made.sqlite"))
        let locked = command == "restore" ? store.path : plain
        let queue = try DatabaseQueue(path: locked)
        try queue.inDatabase { db in
            try db.execute(sql: "CREATE TABLE other(x); PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE")
            let arguments = command == "restore" ? ["restore", locked, "-o", made] : ["adopt", locked, "-s", made]
            let refused = try ToolProcess.run(arguments, store: nil)
            #expect(refused.status == 4, "\(refused)")
            #expect(refused.errors.contains("fuser -v \(locked)\n"), "\(refused)")
            try db.execute(sql: "ROLLBACK")
        }
        try queue.close()
    }

    /// What was acknowledged isn't lost silently, and what is left can be saved.
    @Test("A log that has lost its end is restored only to a point that it has", arguments: [true, false])
    func lostEnd(hasBell: Bool) async throws {
        let folder = try TemporaryFolder()
        let (path, restored) = (folder.path("my store.sqlite"), folder.path("restored.sqlite"))
        let storage = try StorageKit.start(at: URL(fileURLWithPath: path)) { $0.autoSchema(NoteRecord.self) }.facade
        let beginning = storage.head
        for id in 1...20 { try await storage.save(Note(id: id, text: "note")) }
        // Not the last row, so every row is looked at.
        try await storage.save(Note(id: 1, text: "changed"))
        try await storage.close()
        let queue = try DatabaseQueue(path: path)
        let head = try await queue.writeWithoutTransaction { db in
            db.add(function: DatabaseFunction("storage_engine", argumentCount: 0) { _ in 1 })
            try db.execute(sql: "DELETE FROM storage_log WHERE position = (SELECT max(position) FROM storage_log)")
            return try Int64.fetchOne(db, sql: "SELECT max(last) FROM storage_log")
        }
        try queue.close()
        let end = try #require(head)
        if !hasBell { unlink(path + ".bell") }
        for point in [[], ["--to", "head"], ["--to", "head~1"], ["--to", "2150-01-01"]] {
            for way in [["--dry-run"], []] {
                let refused = try ToolProcess.run(["restore", path, "-o", restored] + point + way, store: nil)
                #expect(refused.status == 5, "\(point): \(refused)")
                #expect(refused.errors.contains("storagekit restore '\(path)' --to @\(end) -o NEW"), "\(refused)")
            }
        }
        #expect(!FileManager.default.fileExists(atPath: restored))
        // Each of them is one event.
        for last in [end, end - 1] {
            let arguments = ["restore", path, "--to", "@\(last)", "-o", restored, "--force", "--yes"]
            let made = try ToolProcess.run(arguments, store: nil)
            #expect(made.status == 0, "\(made)")
            #expect(made.output.contains("! The log of"), "\(made)")
            let record = try ToolProcess.run(arguments + ["--format", "json"], store: nil)
            #expect(record.output.contains(#""log_loss":"The log of"#), "\(record)")
            #expect(try isWhole(restored))
            let count = try await DatabaseQueue(path: restored).read { db in
                try Int.fetchOne(db, sql: "SELECT count(*) FROM notes WHERE text = 'note'")
            }
            #expect(count == Int(last - beginning), "@\(last)")
        }
    }

    @Test("A log with a gap is restored only to a point before it")
    func gap() async throws {
        let folder = try TemporaryFolder()
        let (path, restored) = (folder.path(), folder.path("restored.sqlite"))
        let storage = try StorageKit.start(at: URL(fileURLWithPath: path)) { $0.autoSchema(NoteRecord.self) }.facade
        for id in 1...20 { try await storage.save(Note(id: id, text: "note")) }
        try await storage.close()
        let queue = try DatabaseQueue(path: path)
        let first = try await queue.writeWithoutTransaction { db in
            db.add(function: DatabaseFunction("storage_engine", argumentCount: 0) { _ in 1 })
            let rows = "SELECT position FROM storage_log ORDER BY position DESC LIMIT 1 OFFSET 1"
            let first = try Int64.fetchOne(db, sql: rows)
            try db.execute(sql: "DELETE FROM storage_log WHERE position = (\(rows))")
            return first
        }
        try queue.close()
        let start = try #require(first)
        let refused = try ToolProcess.run(["restore", path, "-o", restored], store: nil)
        #expect(refused.status == 5, "\(refused)")
        #expect(refused.errors.contains("a gap at @\(start)"), "\(refused)")
        let made = try ToolProcess.run(["restore", path, "--to", "@\(start - 1)", "-o", restored], store: nil)
        #expect(made.status == 0, "\(made)")
        #expect(try isWhole(restored))
    }

    /// A table without history stays as it is, so its rows may refer to later ones.
    @Test("A point at which rows would refer to later ones is refused")
    func referencesToLaterRows() async throws {
        let folder = try TemporaryFolder()
        let (database, store) = (folder.path("plain.db"), folder.path("app.sqlite"))
        let queue = try DatabaseQueue(path: database)
        try await queue.write { db in
            try db.execute(sql: "CREATE TABLE p(id INTEGER PRIMARY KEY, v); CREATE TABLE c(p REFERENCES p)")
        }
        try queue.close()
        #expect(try ToolProcess.run(["adopt", database, "-s", store], store: nil).status == 8)
        for sql in [
            "INSERT INTO p(id) VALUES (9)", "INSERT INTO p(id) VALUES (10)", "UPDATE p SET v = 1",
            "INSERT INTO p(id) VALUES (11)",
        ] {
            let changed = try ToolProcess.run(["exec", sql, "--yes"], store: store)
            #expect(changed.status == 0, "\(changed)")
        }
        let other = try DatabaseQueue(path: store)
        try await other.write { try $0.execute(sql: "INSERT INTO c VALUES (9), (10)") }
        try other.close()
        func restore(_ point: String) throws -> ToolProcess.Outcome {
            try ToolProcess.run(["restore", store, "--to", point, "-o", folder.path("new.sqlite")], store: nil)
        }
        let refused = try restore("t:1")
        #expect(refused.status == 7, "\(refused)")
        #expect(refused.errors.contains("rows of \"c\" would refer to rows that came later"), "\(refused)")
        #expect(refused.errors.contains("Choose a later point."), "\(refused)")
        // One of the two rows that they refer to is still missing.
        #expect(try restore("t:2").status == 7)
        #expect(!FileManager.default.fileExists(atPath: folder.path("new.sqlite")))
        #expect(try restore("t:3").status == 0)
        #expect(try isWhole(store))
    }

    /// Only recorded tables are made as they were at the point, so `p` isn't in a store that ends before its history. Every write to
    /// `c` would fail there.
    @Test(
        "A point before the history of a table that others refer to is refused",
        arguments: ["CREATE TABLE c(id INTEGER PRIMARY KEY, p REFERENCES p)", "CREATE TABLE c(p REFERENCES p)"])
    func referencesToLaterTables(child: String) throws {
        let folder = try TemporaryFolder()
        let (database, store) = (folder.path("plain.db"), folder.path("app.sqlite"))
        let queue = try DatabaseQueue(path: database)
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE a(id INTEGER PRIMARY KEY); CREATE TABLE p(id INTEGER PRIMARY KEY); \(child);
                    INSERT INTO p VALUES (9); INSERT INTO c(p) VALUES (9);
                    """)
        }
        try queue.close()
        // A table without a primary key has no history.
        let first = child.contains("KEY") ? "c" : "a"
        #expect(try ToolProcess.run(["adopt", database, first, "-s", store], store: nil).status == 0)
        #expect(try ToolProcess.run(["adopt", store, "p", "--in-place", "--yes"], store: nil).status == 0)
        let new = folder.path("new.sqlite")
        func restore(_ point: String) throws -> ToolProcess.Outcome {
            try ToolProcess.run(["restore", store, "--to", point, "-o", new], store: nil)
        }
        let refused = try restore("t:1")
        #expect(refused.status == 7, "\(refused)")
        #expect(
            refused.errors.contains(#""c" would refer to the table "p", which isn't recorded at that point."#),
            "\(refused)")
        #expect(refused.errors.contains("--to t:2 -o NEW"), "\(refused)")
        #expect(!FileManager.default.fileExists(atPath: new))
        let made = try restore("t:2")
        #expect(made.status == 0, "\(made)")
        let other = try DatabaseQueue(path: new)
        try other.write { try $0.execute(sql: "INSERT INTO c(p) VALUES (9)") }
        try other.close()
    }

    /// Renaming changes what refers to the table, also in a table without history, which stays as it is.
    @Test("A point before a table got the name by which others refer to it is refused")
    func referencesToRenamedTables() async throws {
        let folder = try TemporaryFolder()
        let (database, store) = (folder.path("plain.db"), folder.path("app.sqlite"))
        let queue = try DatabaseQueue(path: database)
        try await queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE c(a, b, FOREIGN KEY (a) REFERENCES p, UNIQUE (a, b));
                    INSERT INTO p VALUES (9);
                    """)
        }
        try queue.close()
        #expect(try ToolProcess.run(["adopt", database, "-s", store], store: nil).status == 8)
        let storage = try StorageKit.start(at: URL(fileURLWithPath: store)).facade
        try await storage.write { try $0.execute("ALTER TABLE p RENAME TO q") }
        try await storage.close()
        func restore(_ name: String) throws -> ToolProcess.Outcome {
            try ToolProcess.run(["restore", store, "--to", "t:1", "-o", folder.path(name)], store: nil)
        }
        // No row of "c" refers to it yet.
        #expect(try restore("empty.sqlite").status == 0)
        let other = try DatabaseQueue(path: store)
        try await other.write { try $0.execute(sql: "INSERT INTO c VALUES (NULL, 1), (9, 2)") }
        try other.close()
        let refused = try restore("new.sqlite")
        #expect(refused.status == 7, "\(refused)")
        #expect(refused.errors.contains(#""c" would refer to the table "q""#), "\(refused)")
    }

    /// It is as its program made it, and the source is no better.
    @Test("A foreign key to a table that the source doesn't have either is no reason to refuse a point")
    func referencesToMissingTables() throws {
        let folder = try TemporaryFolder()
        let (database, store) = (folder.path("plain.db"), folder.path("app.sqlite"))
        let queue = try DatabaseQueue(path: database)
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE a(id INTEGER PRIMARY KEY); CREATE TABLE c(p REFERENCES p)")
        }
        try queue.close()
        #expect(try ToolProcess.run(["adopt", database, "a", "-s", store], store: nil).status == 0)
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let other = try DatabaseQueue(path: store, configuration: configuration)
        try other.write { try $0.execute(sql: "INSERT INTO c VALUES (9)") }
        try other.close()
        let made = try ToolProcess.run(["restore", store, "--to", "t:1", "-o", folder.path("new.sqlite")], store: nil)
        #expect(made.status == 0, "\(made)")
    }

    /// A copy of what only its owner may read must not be readable to all.
    @Test("New files have the permissions of what they hold or replace")
    func permissionsOfNewFiles() throws {
        let folder = try TemporaryFolder()
        let (database, store, copy) = (folder.path("plain.db"), folder.path("app.sqlite"), folder.path("copy.sqlite"))
        let queue = try DatabaseQueue(path: database)
        try queue.write { try $0.execute(sql: "CREATE TABLE t(id INTEGER PRIMARY KEY)") }
        try queue.close()
        func permissions(_ path: String) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        }
        func run(_ arguments: String...) throws {
            let outcome = try ToolProcess.run(arguments, store: nil)
            #expect(outcome.status == 0, "\(arguments): \(outcome)")
        }
        chmod(database, 0o600)
        try run("adopt", database, "-s", store)
        #expect(try permissions(store) == 0o600)
        try run("backup", copy, "-s", store)
        #expect(try permissions(copy) == 0o600)
        try run("restore", copy, "-o", folder.path("restored.sqlite"))
        #expect(try permissions(folder.path("restored.sqlite")) == 0o600)
        // A file that is replaced keeps its own.
        chmod(copy, 0o640)
        try run("backup", copy, "-s", store, "--force")
        #expect(try permissions(copy) == 0o640)
        // Whoever makes a store can write to it.
        chmod(database, 0o440)
        try run("adopt", database, "-s", folder.path("second.sqlite"))
        #expect(try permissions(folder.path("second.sqlite")) == 0o640)
        chmod(database, 0o640)
        try run("adopt", database, "--in-place", "--yes")
        #expect(try permissions(database) == 0o640)
        #expect(try permissions(database + ".before-adopt") == 0o640)
    }

    /// SQLite would apply what a killed writer has left to the new file: old rows would come back, or the file be unreadable.
    @Test(
        "Beside what is left of a lost store, no new one takes its name",
        arguments: ["backup", "restore", "adopt"], ["-wal", "-journal"])
    func leftoversOfLostStore(command: String, suffix: String) async throws {
        let store = try await SampleStore()
        let (lost, database) = (store.folder.path("lost.sqlite"), store.folder.path("plain.db"))
        let queue = try DatabaseQueue(path: database)
        try await queue.write { try $0.execute(sql: "CREATE TABLE t(id INTEGER PRIMARY KEY)") }
        try queue.close()
        let left = Data("what a killed writer has left".utf8)
        let leftURL = URL(fileURLWithPath: lost + suffix)
        try left.write(to: leftURL)
        let arguments =
            switch command {
            case "backup": ["backup", lost]
            case "restore": ["restore", store.path, "-o", lost]
            default: ["adopt", database, "-s", lost]
            }
        let used = command == "backup" ? store.path : nil
        for way in [[], ["--force", "--yes"]] {
            let refused = try ToolProcess.run(arguments + way, store: used)
            #expect(refused.status == 7, "\(way): \(refused)")
            #expect(refused.errors.contains("lost.sqlite\(suffix)"), "\(way): \(refused.errors)")
            #expect(!FileManager.default.fileExists(atPath: lost), "\(way)")
            #expect(try Data(contentsOf: leftURL) == left, "\(way)")
        }
        try FileManager.default.removeItem(at: leftURL)
        let made = try ToolProcess.run(arguments, store: used)
        #expect(made.status == 0, "\(made)")
        #expect(try isWhole(lost))
    }

    @Test("A backup that is refused leaves no lock beside another program's database")
    func lockOfRefusedBackup() async throws {
        let store = try await SampleStore()
        let database = store.folder.path("plain.db")
        // It has the file open, and changes in its write-ahead log.
        let pool = try DatabasePool(path: database)
        try await pool.write { try $0.execute(sql: "CREATE TABLE t(id INTEGER PRIMARY KEY)") }
        let refused = try ToolProcess.run(["backup", database, "--force", "--yes"], store: store.path)
        #expect(refused.status == 4, "\(refused)")
        #expect(!FileManager.default.fileExists(atPath: database + ".lock"), "\(refused)")
        try pool.close()
    }

    /// Copies the files of a store as they are when its process is killed, the last commits in the write-ahead log only.
    private func leaveKilled(_ store: SampleStore, at path: String) async throws {
        let engine = try SampleStore.open(store.path)
        for number in 0..<30 {
            _ = try await engine.commit(CommitMetadata()) { _, db in
                try db.execute(sql: "INSERT INTO posts(id) VALUES (?)", arguments: ["new-\(number)"])
            }
        }
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: store.path + suffix, toPath: path + suffix)
        }
        try await engine.close()
    }

    @Test("--force replaces what a killed writer has left", arguments: ["backup", "restore", "adopt"])
    func replacingKilledStore(command: String) async throws {
        let store = try await SampleStore()
        let (left, database) = (store.folder.path("left.sqlite"), store.folder.path("plain.db"))
        try await leaveKilled(store, at: left)
        let queue = try DatabaseQueue(path: database)
        try await queue.write { try $0.execute(sql: "CREATE TABLE t(id INTEGER PRIMARY KEY)") }
        try queue.close()
        let arguments =
            switch command {
            case "backup": ["backup", left, "--force", "--yes"]
            case "restore": ["restore", store.path, "--to", "@5", "-o", left, "--force", "--yes"]
            default: ["adopt", database, "-s", left, "--force", "--yes"]
            }
        let used = command == "backup" ? store.path : nil
        let log = try #require(FileManager.default.contents(atPath: left + "-wal"))
        #expect(!log.isEmpty)

        let holder = try WriterLock(store: left)
        let refused = try ToolProcess.run(arguments, store: used)
        #expect(refused.status == 4, "\(refused)")
        #expect(refused.errors.contains("process \(getpid())"), "\(refused)")
        holder.release()
        #expect(FileManager.default.contents(atPath: left + "-wal") == log)
        var damaged = log
        damaged[32 + 24 + 100] ^= 1
        try damaged.write(to: URL(fileURLWithPath: left + "-wal"))
        let kept = try ToolProcess.run(arguments, store: used)
        #expect(kept.status == 7, "\(kept)")
        #expect(kept.errors.contains("Move \(left) and \(left)-wal away together"), "\(kept)")
        #expect(FileManager.default.contents(atPath: left + "-wal") == damaged)
        try log.write(to: URL(fileURLWithPath: left + "-wal"))
        unlink(left + "-shm")

        let made = try ToolProcess.run(arguments, store: used)
        #expect(made.status == 0, "\(made)")
        #expect(try isWhole(left))
        let rows = try ToolProcess.run(["export"], store: left).output
        #expect(!rows.contains("new-29") || command == "backup", "\(rows)")
    }

    @Test("A killed command leaves nothing or a whole store", arguments: ["backup", "restore"])
    func killedCommand(command: String) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path()
        let storage = try StorageKit.start(at: URL(fileURLWithPath: path)) {
            $0.autoSchema(NoteRecord.self)
            $0.addFullTextSearch(table: "notes", columns: ["text"])
        }.facade
        for part in 0..<10 {
            try await storage.save((0..<1_000).map { Note(id: part * 1_000 + $0, text: "note \($0) of \(part)") })
        }
        try await storage.close()
        var (absent, whole) = (0, 0)
        let destination = folder.path("copy.sqlite")
        let arguments =
            command == "backup"
            ? ["backup", destination] : ["restore", path, "--to", "t:7", "-o", destination]
        var longest = Duration.milliseconds(50)
        for round in 0..<24 {
            // Every day, further rounds only until it was killed in time.
            if round >= 6, absent > 0, whole > 0, testScale <= 1 { break }
            // The first one isn't killed: how long it takes is what moments are chosen by.
            let delay = round == 0 ? nil : longest * Double.random(in: 0.05...1.1)
            let taken = try await ToolProcess.runSilently(arguments, store: path, killedAfter: delay)
            if round == 0 { longest = taken }
            if FileManager.default.fileExists(atPath: destination) {
                whole += 1
                // The machine may have stood still during an earlier one.
                longest = min(longest, taken)
                #expect(try isWhole(destination), "round \(round)")
                try FileManager.default.removeItem(atPath: destination)
            } else {
                absent += 1
            }
            #expect(try isWhole(path))
            // The first one may have been slower than the others.
            if round > 0, absent == 0 { longest = longest * 0.8 }
        }
        #expect(absent > 0, "\(absent) absent, \(whole) whole")
        #expect(whole > 0, "\(absent) absent, \(whole) whole")
        // What the killed ones have left goes with the next.
        #expect(try ToolProcess.run(arguments, store: path).status == 0)
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).filter {
            $0.contains("partial")
        }
        #expect(left.isEmpty, "\(left)")
    }

    @Test("Every answer of backup and restore")
    func backupAndRestoreOutput() async throws {
        let store = try await SampleStore()
        let folder = store.folder
        func check(_ name: String, _ arguments: String...) throws {
            try GoldenOutputTests.check(GoldenOutputTests.Case(name, arguments: arguments), store: store.path)
        }
        let backup = folder.path("backup.sqlite")
        try check("backup-dry-run", "backup", backup, "--dry-run")
        #expect(!FileManager.default.fileExists(atPath: backup))
        try check("backup", "backup", backup)
        try check("backup-dry-run-exists", "backup", backup, "--dry-run")
        try check("backup-dry-run-json", "backup", backup, "--dry-run", "--force", "--format", "json")
        try check("backup-dry-run-jsonl", "backup", backup, "--dry-run", "--force", "--format", "jsonl")
        try check("backup-exists", "backup", backup)
        try check("backup-force-json", "backup", backup, "--force", "--no-verify", "--format", "json")
        try check("backup-no-folder", "backup", folder.path("nowhere/backup.sqlite"))
        try check("backup-csv", "backup", backup, "--format", "csv")
        let holder = try WriterLock(store: backup)
        try check("backup-in-use", "backup", backup, "--force")
        holder.release()
        let restored = folder.path("restored.sqlite")
        try check("restore-dry-run", "restore", backup, "--to", "@5", "-o", restored, "--dry-run")
        #expect(!FileManager.default.fileExists(atPath: restored))
        try check("restore", "restore", backup, "--to", "t:3", "-o", restored)
        try check("restore-exists", "restore", backup, "--to", "t:3", "-o", restored)
        try check("restore-json", "restore", backup, "--to", "@0", "-o", restored, "--force", "--format", "json")
        try check("restore-jsonl", "restore", backup, "--to", "@0", "-o", restored, "--force", "--format", "jsonl")
        try check("restore-beyond", "restore", backup, "--to", "t:9999", "-o", restored)
        try check("restore-no-store", "restore", folder.path("missing.sqlite"), "-o", restored)
        try check("restored-verify", "verify", "-s", restored)
    }
}
