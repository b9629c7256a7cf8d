import EntityTestSupport
import Foundation
import GRDB
import StorageEntities
import StorageKit
import StorageMaintenance
import StorageTesting
import TestSupport
import Testing

/// The past reads as it was when it was the present.
@Suite struct AsOfTests {
    @Test("Every point of a random history reads as it was", arguments: testSeeds(1))
    func randomHistoryAtEveryPoint(seed: UInt64) async throws {
        let clock = ManualClock()
        var configuration = StorageConfig()
        configuration.clock = clock
        configuration.segmentLength = 16
        let storage = try StorageKit.inMemory(config: configuration) {
            $0.autoSchema(NoteRecord.self, PersonRecord.self)
            $0.addFullTextSearch(table: "notes", columns: ["text"])
        }.facade
        var states: [(position: Int64, commit: Int64, time: Date, notes: [Note])] = []
        for round in 0..<60 {
            clock.advance(by: .seconds(10))
            let receipt = try await storage.write { tx in
                var random = SplitMix64(seed: seed &+ UInt64(round))
                for _ in 0...random.below(4) {
                    let id = random.below(9)
                    if random.chance(50) {
                        try tx.save(Note(id: id, text: "round \(round)"))
                    } else {
                        try tx.delete(Note.self, id: id)
                    }
                }
                try tx.save(Person(id: "p", name: "round \(round)", age: nil, score: 0))
            }
            let commit = try #require(receipt.commit)
            let time = Date(timeIntervalSince1970: Double(receipt.time) / 1_000_000)
            states.append((receipt.last, commit, time, try await storage.all(Note.self)))
            if round % 20 == 19 { try await storage.seal() }
        }
        var random = SplitMix64(seed: seed)
        for state in states.shuffled(using: &random) {
            let points = [
                StoragePoint.position(state.position), .commit(state.commit), .time(state.time),
                .time(state.time.addingTimeInterval(9)),
            ]
            // What is read depends on the position that a point has, so that one of them is read.
            let chosen = random.below(points.count)
            for (number, point) in points.enumerated() {
                let past = try await storage.asOf(point, schema: random.chance(50) ? .current : .asRecorded)
                #expect(past.position == state.position)
                guard number == chosen || testScale > 1 else { continue }
                #expect(try await past.all(Note.self) == state.notes)
                #expect(try await past.count(Note.self) == state.notes.count)
                for note in state.notes { #expect(try await past.get(Note.self, id: note.id) == note) }
                guard let text = state.notes.first?.text else { continue }
                let found = try await past.search(Note.self, query: "\"\(text)\"").map(\.entity.id)
                #expect(found.sorted() == state.notes.filter { $0.text == text }.map(\.id).sorted())
            }
        }
        #expect(try await storage.asOf(.head).all(Note.self) == states.last?.notes)
        let before = try await storage.asOf(.time(Date(timeIntervalSince1970: 0)))
        #expect(before.position == 0)
        #expect(try await before.all(Note.self) == [])
        let unmade = try await storage.asOf(.time(Date(timeIntervalSince1970: 0)), schema: .asRecorded)
        await #expect(throws: StorageError.self) { try await unmade.all(Note.self) }
        for point in [StoragePoint.position(-1), .position(storage.head + 1), .commit(10_000), .commit(-1)] {
            let error = await #expect(throws: StorageError.self) { try await storage.asOf(point) }
            #expect(error?.code == .notFound)
        }
    }

    enum V1 {
        @StorageEntity(table: "articles") struct Article: Equatable {
            var id: Int
            var title: String
            var stars: String
            var gone: String?
        }
    }
    enum V2 {
        @StorageEntity(table: "articles") struct Article: Equatable {
            var id: Int
            var headline: String
            var stars: Int
            var language: String = "en"
        }
    }
    enum V3 {
        @StorageEntity(table: "articles") struct Article: Equatable {
            var id: Int
            var headline: String
            var stars: Double
            var language: String = "en"
        }
    }

    private func second(_ schema: inout Schema) {
        schema.renameColumn("title", to: "headline", in: "articles")
        schema.convertColumn("stars", of: "articles", to: Int.self) { old in
            guard case .text(let text) = old else { return 0 }
            return .integer(Int64(text) ?? -1)
        }
        schema.dropColumn("gone", from: "articles")
    }

    private func third(_ schema: inout Schema) {
        second(&schema)
        schema.convertColumn("stars", of: "articles", to: Double.self) { old in
            guard case .integer(let count) = old else { return 0 }
            return .real(Double(count) / 2)
        }
        schema.autoSchema(V3.ArticleRecord.self)
        schema.addFullTextSearch(table: "articles", columns: ["headline"])
    }

    /// What isn't needed isn't read: shown by damage that only who reads it meets.
    @Test("A snapshot is built from the nearer end of the log, and only once")
    func snapshotFromNearerEnd() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("damaged.sqlite")
        var configuration = StorageConfig()
        // Sealing in the background could still read what is damaged below, and hold the lock.
        (configuration.segmentLength, configuration.sealsInBackground) = (64, false)
        let storage = try StorageKit.start(at: URL(fileURLWithPath: path), config: configuration) {
            $0.autoSchema(NoteRecord.self)
        }.facade
        for round in 0..<20 {
            try await storage.save((0..<100).map { Note(id: $0, text: "round \(round) of \($0)") })
        }
        try await storage.seal()
        let (early, middle, late) = (Int64(250), storage.head / 2, storage.head - 250)
        func damage(_ rows: String) throws {
            var configuration = GRDB.Configuration()
            configuration.busyMode = .timeout(60)
            configuration.prepareDatabase { db in
                // What the log's guards ask.
                db.add(function: DatabaseFunction("storage_engine", argumentCount: 0) { _ in 1 })
                try db.execute(sql: "PRAGMA wal_autocheckpoint = 0")
            }
            let other = try DatabaseQueue(path: path, configuration: configuration)
            try other.write { try $0.execute(sql: "UPDATE storage_log SET body = substr(body, 1, 9) WHERE \(rows)") }
            try other.close()
        }
        func notes(_ position: Int64) async throws -> [Note] {
            try await storage.asOf(.position(position)).all(Note.self)
        }
        let earlyNotes = try await notes(early)
        #expect(earlyNotes.count == 100)
        #expect(earlyNotes.contains { $0.text.hasPrefix("round 1 ") })
        try damage("position > 64 AND last < \(middle)")
        // From the end, where the damage doesn't lie.
        let lateNotes = try await notes(late)
        #expect(lateNotes.count == 100)
        #expect(lateNotes.contains { $0.text.hasPrefix("round 17 ") })
        // From the beginning, where it does; but it was made already.
        #expect(try await notes(early) == earlyNotes)
        await #expect(throws: StorageError.self) { try await notes(early + 1) }
        try damage("position > \(middle)")
        #expect(try await notes(late) == lateNotes)
        await #expect(throws: StorageError.self) { try await notes(late - 1) }
    }

    @Test("A snapshot can't be written to")
    func snapshotIsReadOnly() async throws {
        let store = try TemporaryStore { $0.autoSchema(NoteRecord.self) }
        try await store.storage.save(Note(id: 1, text: "one"))
        let past = try await store.storage.asOf(.position(store.storage.head))
        await #expect(throws: (any Error).self) { try await past.read { try $0.execute(sql: "DELETE FROM notes") } }
        #expect(try await past.all(Note.self).count == 1)
        #expect(try await store.storage.asOf(.position(store.storage.head)).all(Note.self).count == 1)
    }

    @Test("A snapshot is read in the current schema")
    func snapshotInCurrentSchema() async throws {
        let folder = try TemporaryFolder()
        let url = URL(fileURLWithPath: folder.path("a.sqlite"))
        let one = try StorageKit.start(at: url) { $0.autoSchema(V1.ArticleRecord.self) }.facade
        try await one.save([
            V1.Article(id: 1, title: "old news", stars: "4", gone: "x"), V1.Article(id: 2, title: "bad", stars: "many"),
        ])
        let first = one.head
        try await one.close()
        let two = try StorageKit.start(at: url) {
            second(&$0)
            $0.autoSchema(V2.ArticleRecord.self)
        }.facade
        try await two.save(V2.Article(id: 1, headline: "older news", stars: 5, language: "de"))
        let middle = two.head
        try await two.close()
        let storage = try StorageKit.start(at: url) { third(&$0) }.facade
        try await storage.save(V3.Article(id: 1, headline: "oldest news", stars: 9.25))
        try await storage.delete(V3.Article.self, id: 2)

        let past = try await storage.asOf(.position(first))
        #expect(
            try await past.all(V3.Article.self) == [
                V3.Article(id: 1, headline: "old news", stars: 2), V3.Article(id: 2, headline: "bad", stars: -0.5),
            ])
        #expect(try await past.query(V3.Article.self).where { $0.stars > 1 }.fetchOne()?.headline == "old news")
        #expect(try await past.query(V3.Article.self).sum(\.stars) == 1.5)
        #expect(try await past.search(V3.Article.self, query: "news").map(\.entity.headline) == ["old news"])
        #expect(try await past.searchCount(V3.Article.self, query: "oldest") == 0)
        let between = try await storage.asOf(.position(middle))
        #expect(
            try await between.get(V3.Article.self, id: 1)
                == V3.Article(id: 1, headline: "older news", stars: 2.5, language: "de"))
        #expect(try await between.search(V3.Article.self, query: "older").count == 1)
        let then = try await storage.asOf(.position(first), schema: .asRecorded)
        #expect(try await then.get(V1.Article.self, id: 2) == V1.Article(id: 2, title: "bad", stars: "many"))
        let names = try await past.read { db in try db.columns(in: "articles").map(\.name) }
        #expect(names.filter { $0.hasPrefix("storage_") } == [])
        let versions = try await storage.history(V3.Article.self, id: 1)
        #expect(try versions.map { try $0.entity?.stars } == [2, 2, 2.5, 2.5, 9.25])
        #expect(try versions.first?.entity?.headline == "old news")
        #expect(try versions.last?.entity?.headline == "oldest news")
        #expect(versions.map(\.operation) == [.insert, .update, .update, .update, .update])
        let deleted = try await storage.history(V3.Article.self, id: 2)
        #expect(try deleted.map { try $0.entity?.stars } == [-0.5, -0.5, -0.5, nil])
        // What a conversion makes of the same value is the same.
        var changed: [EntityDifference<V3.Article>] = []
        for try await change in storage.diff(V3.Article.self, from: .position(first), to: .position(middle)) {
            changed.append(change)
        }
        #expect(changed.map(\.old) == [V3.Article(id: 1, headline: "old news", stars: 2)])
        #expect(changed.map(\.new) == [V3.Article(id: 1, headline: "older news", stars: 2.5, language: "de")])
        #expect(try await storage.verify().isSound)
        try await storage.close()

        // A program without the conversion gets an error, and can still read the past as recorded.
        let forgetful = try StorageKit.start(at: url) {
            $0.retire(
                "rename articles.title to headline", "convert articles.stars to INTEGER NOT NULL",
                "drop articles.gone", "convert articles.stars to REAL NOT NULL")
            $0.autoSchema(V3.ArticleRecord.self)
        }.facade
        let error = await #expect(throws: StorageError.self) {
            try await forgetful.asOf(.position(first)).all(V3.Article.self)
        }
        #expect(error?.code == .schemaMismatch)
        #expect(error?.remedy.contains(".asRecorded") ?? false)
        let history = try await forgetful.history(V3.Article.self, id: 1)
        #expect(try history.last?.entity?.stars == 9.25)
        #expect(throws: StorageError.self) { try history[0].entity }
        await #expect(throws: StorageError.self) {
            for try await _ in forgetful.diff(V3.Article.self, from: .position(first)) {}
        }
        #expect(try await forgetful.asOf(.position(first), schema: .asRecorded).count(V1.Article.self) == 2)
        try await forgetful.close()
    }

    @Test("Rows of a snapshot may violate today's constraints")
    func snapshotIgnoresNewConstraints() async throws {
        let folder = try TemporaryFolder()
        let url = URL(fileURLWithPath: folder.path("a.sqlite"))
        let first = try StorageKit.start(at: url) { $0.autoSchema(NoteRecord.self) }.facade
        try await first.save([Note(id: 1, text: "same"), Note(id: 2, text: "same")])
        let point = first.head
        try await first.save(Note(id: 2, text: "other"))
        try await first.close()
        let storage = try StorageKit.start(at: url) {
            $0.autoSchema(NoteRecord.self)
            $0.migration("one text each") { db in
                try db.execute(
                    sql:
                        "CREATE TABLE new(id INTEGER PRIMARY KEY NOT NULL, text TEXT NOT NULL UNIQUE, updatedAt NOT NULL)"
                )
                try db.execute(sql: "INSERT INTO new(id, text, updatedAt) SELECT id, text, updatedAt FROM notes")
                try db.execute(sql: "DROP TABLE notes")
                try db.execute(sql: "ALTER TABLE new RENAME TO notes")
            }
        }.facade
        for id in 3..<60 { try await storage.save(Note(id: id, text: "note \(id)")) }
        #expect(try await storage.asOf(.position(point)).all(Note.self).map(\.text) == ["same", "same"])
        try await storage.close()
    }
}
