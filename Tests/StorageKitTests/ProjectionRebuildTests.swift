import EntityTestSupport
import Foundation
import GRDB
import StorageKit
import StorageMaintenance
import StorageProjections
import StorageTesting
import Synchronization
import TestSupport
import Testing

/// A projection is rebuilt beside the store, and only swapped in its transaction.
struct ProjectionRebuildTests {
    private static let sql = """
        CREATE TABLE lengths(id INTEGER PRIMARY KEY, length INTEGER NOT NULL, twice INTEGER AS (length * 2) STORED);
        CREATE TABLE touched(id INTEGER REFERENCES lengths(id) DEFERRABLE INITIALLY DEFERRED, times INTEGER NOT NULL,
          PRIMARY KEY (id));
        CREATE TRIGGER lengths_touched AFTER INSERT ON lengths BEGIN INSERT OR REPLACE INTO touched VALUES (NEW.id, 1); END;
        CREATE INDEX lengths_by_length ON lengths(length);

        -- on insert of notes
        INSERT INTO lengths(id, length) VALUES (:new_id, length(:new_text));

        -- on update of notes
        UPDATE lengths SET length = length(:new_text) WHERE id = :new_id;
        UPDATE touched SET times = times + 1 WHERE id = :new_id;

        -- on delete of notes
        DELETE FROM touched WHERE id = :old_id;
        DELETE FROM lengths WHERE id = :old_id;
        """

    private func rows(_ storage: Storage) async throws -> [String] {
        try await storage.read { db in
            try String.fetchAll(
                db,
                sql: """
                    SELECT id || ' ' || length || ' ' || twice || ' ' || times FROM lengths JOIN touched USING (id)
                    ORDER BY id
                    """)
        }
    }

    @Test("Commits continue during a rebuild", arguments: [ProjectionMode.inline, .async])
    func commitsDuringRebuild(_ mode: ProjectionMode) async throws {
        let projection = try SQLProjection(name: "lengths", sql: Self.sql)
        let store = try TemporaryStore { schema in
            schema.autoSchema(NoteRecord.self)
            schema.addProjection(projection, mode: mode)
        }
        let storage = store.storage
        for round in 0..<60 {
            try await storage.write { tx in
                for id in 0..<200 { try tx.save(Note(id: id, text: String(repeating: "x", count: id % 7 + round))) }
                try tx.delete(Note.self, id: round)
            }
        }
        try await storage.waitForProjections(through: storage.save(Note(id: 500, text: "last")))
        let before = try await rows(storage)
        #expect(before.count > 150)
        let reported = Mutex<[RebuildProgress]>([])
        let isDone = Mutex(false)
        let writing = Task {
            var commits = 0
            while !isDone.withLock({ $0 }) {
                try await storage.save(Note(id: 1_000 + commits, text: "meanwhile"))
                commits += 1
            }
            return commits
        }
        try await storage.projections.rebuild("lengths") { progress in reported.withLock { $0.append(progress) } }
        isDone.withLock { $0 = true }
        let commits = try await writing.value
        try await storage.waitForProjections(through: storage.save(Note(id: 501, text: "after")))
        let after = try await rows(storage)
        #expect(after.prefix(before.count) == before[...])
        #expect(after.count == before.count + commits + 1)
        let last = try #require(reported.withLock { $0.last })
        #expect(last.completed == last.total)
        #expect(last.fraction == 1)
        let verified = try await storage.verify()
        #expect(verified.isSound, "\(verified.findings)")
    }

    /// A cancelled rebuild is resumed by one with the same rules and history only.
    @Test("A cancelled rebuild resumes")
    func cancelledRebuildResumes() async throws {
        func rules(_ version: Int) throws -> SQLProjection {
            try SQLProjection(
                name: "Lengths.of", version: version,
                sql: """
                    CREATE TABLE lengths(id INTEGER PRIMARY KEY, length INTEGER NOT NULL);
                    -- on insert of notes
                    INSERT INTO lengths VALUES (:new_id, length(:new_text) * \(version));
                    """)
        }
        let folder = try TemporaryFolder()
        let path = folder.path("a.sqlite")
        let file = path + ".fold-%4Cengths%2Eof"
        func open(_ version: Int) throws -> Storage {
            let projection = try rules(version)
            return try StorageKit.start(at: URL(fileURLWithPath: path)) { schema in
                schema.autoSchema(NoteRecord.self)
                schema.addProjection(projection, mode: .inline)
            }.facade
        }
        func interrupt(_ storage: Storage) async throws {
            let task = Task {
                try await storage.projections.rebuild("Lengths.of") { progress in
                    if progress.completed >= 10_000 { withUnsafeCurrentTask { $0?.cancel() } }
                }
            }
            await #expect(throws: CancellationError.self) { try await task.value }
            // It shows no more people what is in the store than the store does.
            let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            #expect(mode == 0o640)
        }
        var storage = try open(1)
        #expect(chmod(path, 0o640) == 0)
        try await storage.save((0..<12_000).map { Note(id: $0, text: "note \($0)") })
        func sum() async throws -> Int? {
            try await storage.read { try Int.fetchOne($0, sql: "SELECT sum(length) FROM lengths") }
        }
        let wanted = try #require(try await sum())
        try await interrupt(storage)
        let report = try await storage.projections.rebuild("Lengths.of", options: RebuildOptions(compares: true))
        #expect(report.resumedAt >= 10_000)
        #expect(report.differences.isEmpty)
        #expect(report.rows == ["lengths": 12_000])
        #expect(try await sum() == wanted)
        #expect(!FileManager.default.fileExists(atPath: file))
        // Of another version.
        try await interrupt(storage)
        try await storage.close()
        storage = try open(2)
        #expect(try await storage.projections.rebuild("Lengths.of").resumedAt == 0)
        #expect(try await sum() == 2 * wanted)
        // Of a history that went another way.
        try await interrupt(storage)
        let other = try DatabaseQueue(path: file)
        try await other.write { try $0.execute(sql: "UPDATE storage_fold SET time = time + 1") }
        try other.close()
        #expect(try await storage.projections.rebuild("Lengths.of").resumedAt == 0)
        // Nobody wants it.
        try await interrupt(storage)
        try await storage.abandonRebuild()
        #expect(!FileManager.default.fileExists(atPath: file))
        #expect(try await sum() == 2 * wanted)
        try await storage.close()
    }

    /// What can't be copied is rebuilt in the transaction itself, as is what needs tables of others.
    @Test(
        "Tables that can't be copied are rebuilt in the store",
        arguments: [
            "CREATE VIRTUAL TABLE words USING fts5(text);",
            "CREATE TABLE words(id INTEGER PRIMARY KEY AUTOINCREMENT, text);",
            "CREATE TABLE words(text, others INTEGER DEFAULT 0);",
        ])
    func tablesThatCantBeCopied(_ table: String) async throws {
        let others = table.contains("others") ? ", (SELECT count(*) FROM notes)" : ""
        let columns = table.contains("others") ? "(text, others)" : "(text)"
        let projection = try SQLProjection(
            name: "words",
            sql: "\(table)\n-- on insert of notes\nINSERT INTO words\(columns) VALUES (:new_text\(others));\n")
        let store = try TemporaryStore { schema in
            schema.autoSchema(NoteRecord.self)
            schema.addProjection(projection, mode: .inline)
        }
        try await store.storage.save((0..<30).map { Note(id: $0, text: "note \($0)") })
        try await store.storage.projections.rebuild("words")
        let texts = try await store.storage.read {
            try String.fetchAll($0, sql: "SELECT text FROM words ORDER BY rowid")
        }
        #expect(texts == (0..<30).map { "note \($0)" })
        #expect(try await store.storage.verify().isSound)
    }

    /// Emptying the table of a parent must not take the rows along that were filled in before.
    @Test("Rows that refer to prepared ones stay")
    func rowsReferringToPrepared() async throws {
        let projection = try SQLProjection(
            name: "sorted",
            sql: """
                CREATE TABLE entries(id INTEGER PRIMARY KEY, kind TEXT REFERENCES kinds(kind) ON DELETE CASCADE);
                CREATE TABLE kinds(kind TEXT PRIMARY KEY);
                INSERT INTO kinds VALUES ('short'), ('long');
                -- on insert of notes
                INSERT INTO entries VALUES (:new_id, iif(length(:new_text) > 3, 'long', 'short'));
                """)
        let store = try TemporaryStore { schema in
            schema.autoSchema(NoteRecord.self)
            schema.addProjection(projection, mode: .inline)
        }
        try await store.storage.save((0..<6).map { Note(id: $0, text: String(repeating: "x", count: $0)) })
        try await store.storage.projections.rebuild("sorted")
        let kinds = try await store.storage.read {
            try String.fetchAll($0, sql: "SELECT kind FROM entries ORDER BY id")
        }
        #expect(kinds == ["short", "short", "short", "short", "long", "long"])
    }

    /// Rows that are known to others by their numbers keep them.
    @Test("Rows keep their rowids", arguments: [ProjectionMode.inline, .async])
    func rowidsAreKept(_ mode: ProjectionMode) async throws {
        let projection = try SQLProjection(
            name: "linked",
            sql: """
                CREATE TABLE words(word TEXT PRIMARY KEY);
                CREATE TABLE uses(note INTEGER PRIMARY KEY, word INTEGER NOT NULL);
                CREATE TABLE "rowid"(rowid TEXT, oid INTEGER PRIMARY KEY, _rowid_ TEXT);
                CREATE TABLE plain(k TEXT PRIMARY KEY, v INTEGER) WITHOUT ROWID;
                -- on insert, update of notes
                INSERT OR IGNORE INTO words VALUES (:new_text);
                INSERT OR REPLACE INTO uses VALUES (:new_id, (SELECT rowid FROM words WHERE word = :new_text));
                INSERT OR REPLACE INTO "rowid" VALUES (:new_text, :new_id * 7, 'x');
                INSERT OR REPLACE INTO plain VALUES (:new_text, :new_id);
                DELETE FROM words WHERE rowid NOT IN (SELECT word FROM uses);
                """)
        let store = try TemporaryStore { schema in
            schema.autoSchema(NoteRecord.self)
            schema.addProjection(projection, mode: mode)
        }
        let storage = store.storage
        for round in 0..<40 { try await storage.save(Note(id: round % 7, text: "word \(round * round % 11)")) }
        try await storage.waitForProjections(through: storage.save(Note(id: 99, text: "last")))
        func texts() async throws -> [String] {
            try await storage.read { db in
                try String.fetchAll(
                    db,
                    sql:
                        "SELECT note || ' ' || words.word FROM uses LEFT JOIN words ON words.rowid = uses.word ORDER BY 1"
                )
                    + String.fetchAll(db, sql: "SELECT rowid || ' ' || word FROM words ORDER BY 1")
                    + String.fetchAll(db, sql: "SELECT rowid || ' ' || oid || _rowid_ FROM \"rowid\" ORDER BY 1")
                    + String.fetchAll(db, sql: "SELECT k || v FROM plain ORDER BY 1")
            }
        }
        let before = try await texts()
        #expect(before.count > 20)
        try await storage.projections.rebuild("linked")
        #expect(try await texts() == before)
    }

    @Test("Expected content is compared with actual content", arguments: [ProjectionMode.inline, .async])
    func expectedAgainstActual(_ mode: ProjectionMode) async throws {
        let projection = try SQLProjection(name: "lengths", sql: Self.sql)
        let folder = try TemporaryFolder()
        let url = URL(fileURLWithPath: folder.path("a.sqlite"))
        func open() throws -> Storage {
            try StorageKit.start(at: url) { schema in
                schema.autoSchema(NoteRecord.self)
                schema.addProjection(projection, mode: mode)
            }.facade
        }
        var storage = try open()
        try await storage.save((0..<30).map { Note(id: $0, text: "note \($0)") })
        try await storage.waitForProjections(through: storage.save(Note(id: 3, text: "a longer note")))
        let looking = RebuildOptions(compares: true, swaps: false)
        let sound = try await storage.projections.rebuild("lengths", options: looking)
        #expect(sound.differences.isEmpty)
        #expect(!sound.isSwapped)
        #expect(sound.rows == ["lengths": 30, "touched": 30])
        let before = try await rows(storage)
        try await storage.close()
        // Somebody else writes past the store.
        let queue = try DatabaseQueue(path: url.path)
        try await queue.write { db in
            // Guards ask who writes.
            db.add(function: DatabaseFunction("storage_engine", argumentCount: 0) { _ in 2 })
            try db.execute(sql: "UPDATE lengths SET length = 99 WHERE id = 5; DELETE FROM touched WHERE id = 6")
            try db.execute(sql: "INSERT INTO lengths(id, length) VALUES (77, 1)")
        }
        try queue.close()
        storage = try open()
        let found = try await storage.projections.rebuild("lengths", options: looking)
        #expect(found.differingRows == 4)
        #expect(!found.isSwapped)
        #expect(
            found.differences.map(\.description).sorted() == [
                "lengths/5 differs in length", "lengths/77 isn't in the log", "touched/6 is missing",
                "touched/77 isn't in the log",
            ])
        #expect(
            found.differences.first { $0.kind == .different }.map { [$0.expected, $0.found] } == [
                .integer(6), .integer(99),
            ])
        let rebuilt = try await storage.projections.rebuild("lengths", options: RebuildOptions(compares: true))
        #expect(rebuilt.differingRows == 4)
        #expect(rebuilt.isSwapped)
        #expect(try await rows(storage) == before)
        #expect(try await storage.projections.rebuild("lengths", options: looking).differences.isEmpty)
        // What it held is kept, until it is thrown away.
        let keeping = RebuildOptions(keepsOld: true)
        let kept = try await storage.projections.rebuild("lengths", options: keeping).kept
        #expect(kept == ["lengths": "storage_kept_of_lengths", "touched": "storage_kept_of_touched"])
        let held = try await storage.read { db in
            try String.fetchAll(db, sql: "SELECT id || ' ' || length || ' ' || twice FROM storage_kept_of_lengths")
        }
        let holds = try await storage.read { db in
            try String.fetchAll(db, sql: "SELECT id || ' ' || length || ' ' || twice FROM lengths")
        }
        #expect(!held.isEmpty)
        #expect(held == holds)
        #expect(try await storage.verify().isSound)
        let error = await #expect(throws: StorageError.self) {
            try await storage.projections.rebuild("lengths", options: keeping)
        }
        #expect(error?.code == .conflict)
        try await storage.abandonRebuild()
        #expect(try await storage.projections.rebuild("lengths", options: keeping).kept == kept)
        try await storage.close()
    }

    @Test("A cancelled rebuild leaves the projection as it was")
    func cancelledRebuildChangesNothing() async throws {
        let projection = try SQLProjection(name: "lengths", sql: Self.sql)
        let store = try TemporaryStore { schema in
            schema.autoSchema(NoteRecord.self)
            schema.addProjection(projection, mode: .inline)
        }
        let storage = store.storage
        try await storage.save((0..<30).map { Note(id: $0, text: "note \($0)") })
        let before = try await rows(storage)
        let rebuilding = Task {
            try await storage.projections.rebuild("lengths") { _ in withUnsafeCurrentTask { $0?.cancel() } }
        }
        await #expect(throws: CancellationError.self) { try await rebuilding.value }
        #expect(try await rows(storage) == before)
        try await storage.projections.rebuild("lengths")
        #expect(try await rows(storage) == before)
    }
}
