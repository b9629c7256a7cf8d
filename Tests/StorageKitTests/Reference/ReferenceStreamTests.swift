import EntityTestSupport
import GRDB
import StorageKit
import StorageTesting
import Synchronization
import TestSupport
import Testing

/// The streams of the reference, with its names.
@Suite struct ReferenceStreamTests {
    private func open() throws -> StorageKit.Context { try StorageKit.inMemory { $0.autoSchema(NoteRecord.self) } }

    @Test("A closure with SQL runs again when its table changes")
    func trackedClosure() async throws {
        let context = try open()
        let db = context.storage.dbActor
        var counts = db.stream(tracking: { try Int.fetchOne($0, sql: "SELECT count(*) FROM notes") ?? -1 })
            .makeAsyncIterator()
        #expect(await counts.next() == 0)
        for id in 1...5 {
            try await context.facade.save(Note(id: id, text: "\(id)"))
            #expect(await counts.next() == id)
        }
        // SQL of one's own is a commit too.
        try await db.write { try $0.execute(sql: "DELETE FROM notes WHERE id > 2") }
        #expect(await counts.next() == 2)
        try await context.facade.close()
        #expect(await counts.next() == nil)
    }

    @MainActor @Test("Values come on the main actor and not twice")
    func distinctValuesOnMainActor() async throws {
        let context = try open()
        let db = context.storage.dbActor
        var texts: [[String]] = []
        let reader = Task { @MainActor in
            let all = db.streamDistinctOnMainActor(bufferingPolicy: .unbounded) {
                try String.fetchAll($0, sql: "SELECT text FROM notes ORDER BY id")
            }
            for await value in all {
                MainActor.preconditionIsolated()
                texts.append(value)
            }
        }
        while texts.isEmpty { await Task.yield() }
        try await context.facade.save(Note(id: 1, text: "a"))
        while texts.count < 2 { await Task.yield() }
        try await db.write { try $0.execute(sql: "UPDATE notes SET text = 'a'") }
        try await context.facade.tag("nothing-has-changed", at: .head)
        try await context.facade.save(Note(id: 2, text: "b"))
        while texts.count < 3 { await Task.yield() }
        #expect(texts == [[], ["a"], ["a", "b"]])
        reader.cancel()
        await reader.value
        #expect(context.facade.engine.observers.bellCount == 0)
    }

    @Test("A text in another Unicode form is another value", .timeLimit(.minutes(10)))
    func distinctUnicodeForm() async throws {
        let context = try open()
        try await context.facade.save(Note(id: 1, text: "\u{e9}"))
        var texts = context.storage.dbActor.streamDistinctOnMainActor {
            try String.fetchOne($0, sql: "SELECT text FROM notes")
        }.makeAsyncIterator()
        #expect(await texts.next()??.utf8.count == 2)
        try await context.facade.save(Note(id: 1, text: "e\u{301}"))
        #expect(await texts.next()??.utf8.count == 3)
    }

    @Test("An error is reported and ends nothing")
    func errorsOfStreams() async throws {
        let context = try open()
        let errors = Mutex<[String]>([])
        let values = context.storage.dbActor.streamOnMainActor(onError: { error in
            errors.withLock { $0.append("\(error)") }
        }) { try Int.fetchOne($0, sql: "SELECT count(*) FROM later") ?? -1 }
        var iterator = values.makeAsyncIterator()
        try await eventually { errors.withLock { !$0.isEmpty } }
        _ = try await context.storage.dbActor.write { try $0.execute(sql: "CREATE TABLE later(x)") }
        try await context.facade.save(Note(id: 1, text: "a"))
        #expect(await iterator.next() == 0)
    }

    // MARK: What a closure has read

    /// Counts how often a closure has run; each run is awaited.
    private func runs(
        of sql: String, in context: StorageKit.Context, _ changes: [(sql: String, isConcerned: Bool)]
    ) async throws {
        let runs = Mutex(0)
        let values = context.storage.dbActor.stream(bufferingPolicy: .unbounded) { db in
            runs.withLock { $0 += 1 }
            return try GRDB.Row.fetchAll(db, sql: sql).map(\.description)
        }
        var reader = values.makeAsyncIterator()
        _ = await reader.next()
        for change in changes {
            let before = runs.withLock { $0 }
            let db = context.storage.dbActor
            try await db.write { try $0.execute(sql: change.sql) }
            guard change.isConcerned else { continue }
            let wanted = try await db.read { try GRDB.Row.fetchAll($0, sql: sql).map(\.description) }
            #expect(await reader.next() == wanted, "\(sql) after \(change.sql)")
            // Those that didn't concern it came before.
            #expect(runs.withLock { $0 } == before + 1, "\(sql) after \(change.sql)")
        }
    }

    @Test("It runs when a column changes that it has read, and only then")
    func columnsOfClosures() async throws {
        // Sealing merges rows of the log, which a statement below counts, without a commit.
        var config = StorageConfig()
        config.sealsInBackground = false
        let context = try StorageKit.inMemory(config: config) {
            $0.autoSchema(NoteRecord.self, CardRecord.self)
            $0.addFullTextSearch(table: "notes", columns: ["text"])
            $0.migration("view") {
                try $0.execute(sql: "CREATE VIEW lanes AS SELECT lane, count(*) AS count FROM cards GROUP BY lane")
            }
        }
        let facade = context.facade
        try await facade.save(Note(id: 1, text: "a"))
        try await facade.save((0..<3).map { Card(id: $0, title: "card \($0)", lane: "todo", rank: 1) })
        try await runs(
            of: "SELECT title FROM cards WHERE lane = 'todo'", in: context,
            [
                ("UPDATE notes SET text = 'b'", false), ("UPDATE cards SET rank = 2", false),
                ("UPDATE cards SET title = 'x' WHERE id = 1", true),
                ("UPDATE cards SET lane = 'done' WHERE id = 1", true),
                ("INSERT INTO notes(id, text, updatedAt) SELECT 2, 'c', updatedAt FROM notes", false),
                ("DELETE FROM cards WHERE id = 2", true),
                (
                    "INSERT INTO cards(id, title, lane, rank, updatedAt) SELECT 7, 'new', 'todo', 1, updatedAt FROM cards LIMIT 1",
                    true
                ),
            ])
        try await runs(
            of: "SELECT text, (SELECT count FROM lanes LIMIT 1) FROM notes ORDER BY id", in: context,
            [
                ("UPDATE cards SET rank = 3", false), ("UPDATE cards SET lane = 'none'", true),
                ("UPDATE notes SET text = 'd' WHERE id = 1", true),
            ])
        try await runs(
            of: "SELECT rowid FROM storage_fts_\(try await fullTextId(context)) WHERE text MATCH 'word'", in: context,
            [("UPDATE cards SET rank = 4", false), ("UPDATE notes SET text = 'word' WHERE id = 1", true)])
        // The log is no entity's table.
        try await runs(
            of: "SELECT count(*) FROM storage_log", in: context, [("UPDATE cards SET rank = 5", true)])
        // Another schema may be read in another way.
        try await runs(
            of: "SELECT title FROM cards", in: context,
            [("UPDATE cards SET rank = 6", false), ("ALTER TABLE notes ADD COLUMN extra TEXT", true)])
    }

    private func fullTextId(_ context: StorageKit.Context) async throws -> Int {
        try await context.storage.dbActor.read { db in
            try Int.fetchOne(db, sql: "SELECT id FROM storage_catalog WHERE name = 'notes'") ?? 0
        }
    }

    @Test("A closure is held to what it read last")
    func branchingClosures() async throws {
        let context = try StorageKit.inMemory { $0.autoSchema(NoteRecord.self, CardRecord.self) }
        let facade = context.facade
        var values = context.storage.dbActor.stream { db in
            guard try Int.fetchOne(db, sql: "SELECT count(*) FROM notes") == 1 else { return "no note" }
            return try String.fetchOne(db, sql: "SELECT title FROM cards") ?? "no card"
        }.makeAsyncIterator()
        #expect(await values.next() == "no note")
        try await facade.save(Note(id: 1, text: "a"))
        #expect(await values.next() == "no card")
        try await facade.save(Card(id: 1, title: "card", lane: "", rank: nil))
        #expect(await values.next() == "card")
    }

    @Test("A reader sees what another process changes, and only that")
    func trackedInReader() async throws {
        let store = try TemporaryStore { $0.autoSchema(NoteRecord.self, CardRecord.self) }
        let reader = try StorageKit.start(at: store.url, config: StorageConfig(isReadOnly: true)) {
            $0.autoSchema(NoteRecord.self, CardRecord.self)
        }
        let runs = Mutex(0)
        var values = reader.storage.dbActor.stream { db in
            runs.withLock { $0 += 1 }
            return try Int.fetchOne(db, sql: "SELECT count(*) FROM notes") ?? -1
        }.makeAsyncIterator()
        #expect(await values.next() == 0)
        for id in 0..<5 { try await store.storage.save(Card(id: id, title: "", lane: "", rank: nil)) }
        let receipt = try await store.storage.save(Note(id: 1, text: "a"))
        #expect(await values.next() == 1)
        #expect(runs.withLock { $0 } == 2)
        try await reader.facade.waitForViews(throughPosition: receipt.position)
        try await reader.facade.close()
    }
}
