import StorageKit
import StorageTesting
import TestSupport
import Testing

@testable import StorageViews

/// SQL of one's own, followed.
@Suite(.timeLimit(.minutes(10))) struct LiveSQLTests {
    private struct Total: Decodable, FetchableRecord, Identifiable, Equatable {
        var id: String
        var pages: Int

        static let sql = """
            SELECT novelistId AS id, sum(pages) AS pages FROM novels JOIN chapters ON novelId = novels.id \
            WHERE novelistId IS NOT NULL GROUP BY novelistId ORDER BY pages DESC, novelistId
            """
    }

    private func open() async throws -> Storage {
        let storage = try await Library.open()
        try await storage.save([
            Novel(id: 1, year: 1990, novelistId: "a"), Novel(id: 2, year: 2000, novelistId: "b"),
        ])
        try await storage.save([Chapter(id: 1, pages: 10, novelId: 1), Chapter(id: 2, pages: 20, novelId: 2)])
        return storage
    }

    @Test("A join runs again when, and only when, what it reads has changed")
    func join() async throws {
        let storage = try await open()
        let live = storage.live { try Total.fetchAll($0, sql: Total.sql) }
        var snapshots = live.snapshots.makeAsyncIterator()
        var differences = live.differences.makeAsyncIterator()
        var totals: [Total] = []
        try await differences.next()?.apply(to: &totals)
        #expect(totals.map(\.id) == ["b", "a"])
        #expect(try await snapshots.next() == totals)
        // Neither a column that isn't read, nor what leaves the result as it is.
        try await storage.query(Novel.self).updateAll { $0.year.set(to: 1) }
        try await storage.save(Chapter(id: 9, pages: 99, novelId: 7))
        let receipt = try await storage.save(Chapter(id: 1, pages: 30, novelId: 1))
        let difference = try #require(await differences.next())
        #expect(difference.position == receipt.position)
        #expect(difference.whole == nil)
        #expect(difference.fits(totals))
        difference.apply(to: &totals)
        #expect(totals == [Total(id: "a", pages: 30), Total(id: "b", pages: 20)])
        #expect(try await snapshots.next() == totals)
        try await storage.close()
        #expect(try await snapshots.next() == nil)
    }

    @Test("A reader that has the rows of SQL receives the steps from them")
    func fromKnownRows() async throws {
        let storage = try await open()
        let live = storage.live { try Total.fetchAll($0, sql: Total.sql) }
        var totals = try #require(try await live.snapshots.first { _ in true })
        try await storage.save(Chapter(id: 1, pages: 30, novelId: 1))
        var resumed = live.differences(from: totals).makeAsyncIterator()
        let difference = try #require(await resumed.next())
        #expect(difference.whole == nil)
        #expect(difference.position == storage.head)
        try #require(difference.fits(totals))
        difference.apply(to: &totals)
        #expect(totals == [Total(id: "a", pages: 30), Total(id: "b", pages: 20)])
    }

    @Test("A text in another Unicode form is another value")
    func unicodeForm() async throws {
        let storage = try await open()
        try await storage.save(Novelist(id: "a", country: "\u{e9}"))
        let sql = "SELECT country FROM novelists"
        var text = storage.liveValue { try String.fetchOne($0, sql: sql) }.snapshots.makeAsyncIterator()
        var texts = storage.liveValue { try String.fetchAll($0, sql: sql) }.snapshots.makeAsyncIterator()
        #expect(try await text.next()??.utf8.count == 2)
        #expect(try await texts.next()?.map(\.utf8.count) == [2])
        try await storage.save(Novelist(id: "a", country: "e\u{301}"))
        #expect(try await text.next()??.utf8.count == 3)
        #expect(try await texts.next()?.map(\.utf8.count) == [3])
    }

    /// Views aren't in the log, and their commits have no events.
    @Test("A view that is made again is read again")
    func recreatedView() async throws {
        let storage = try await open()
        try await storage.write { try $0.execute("CREATE VIEW long AS SELECT id FROM chapters WHERE pages > 15") }
        let live = storage.liveValue { try Int.fetchAll($0, sql: "SELECT id FROM long ORDER BY id") }
        var values = live.snapshots.makeAsyncIterator()
        #expect(try await values.next() == [2])
        try await storage.write {
            try $0.execute("DROP VIEW long")
            try $0.execute("CREATE VIEW long AS SELECT id FROM chapters WHERE pages > 5")
        }
        #expect(try await values.next() == [1, 2])
        try await storage.save(Chapter(id: 1, pages: 1, novelId: 1))
        #expect(try await values.next() == [2])
    }

    @Test("An explanation names the columns that are read")
    func explanation() async throws {
        let storage = try await open()
        let explanation = try #require(await storage.live { try Total.fetchAll($0, sql: Total.sql) }.explain())
        #expect(explanation.tier == .tracked)
        #expect(
            explanation.anchors == ["chapters.novelId", "chapters.pages", "novels.id", "novels.novelistId"])
        let live = storage.live { try Total.fetchAll($0, sql: Total.sql) }
        try await storage.close()
        let thrown = await #expect(throws: StorageError.self) { try await live.explain() }
        #expect(thrown?.code == .closed)
    }

    /// SQLite reports to an authorizer, from which GRDB's region comes, none of the columns that these name without a table.
    @Test(
        "Columns that tables are joined by count where the SQL doesn't name them",
        arguments: [
            "SELECT count(*) FROM novels AS n JOIN chapters AS c USING (id)",
            "SELECT n.year FROM novels AS n JOIN chapters AS c USING (id) WHERE n.id = 9",
            "SELECT count(*) FROM (SELECT id FROM novels) NATURAL JOIN (SELECT novelId AS id FROM chapters)",
            "SELECT count(*) FROM novels AS n WHERE EXISTS (SELECT 1 FROM novels AS m JOIN chapters AS c USING (id) WHERE m.id = n.id)",
            "WITH pairs AS (SELECT n.id FROM novels AS n NATURAL JOIN (SELECT id FROM chapters)) SELECT count(*) FROM pairs",
        ])
    func joinColumns(sql: String) async throws {
        let storage = try await open()
        try await storage.save(Novel(id: 9, year: 2009, novelistId: nil))
        let live = storage.liveValue { try Int.fetchOne($0, sql: sql) ?? 0 }
        var values = live.snapshots.makeAsyncIterator()
        let before = try #require(try await values.next())
        try await storage.save(Chapter(id: 9, pages: 1, novelId: 9))
        let after = try await storage.read { try Int.fetchOne($0, sql: sql) ?? 0 }
        #expect(after != before)
        #expect(try await values.next() == after)
    }

    @Test(
        "A change of a column that tables are joined by is noticed",
        arguments: ["JOIN novels AS m USING (year)", "NATURAL JOIN novels AS m"])
    func changedJoinColumn(join: String) async throws {
        let storage = try await open()
        let sql = "SELECT count(*) FROM (SELECT year FROM novels) AS n \(join)"
        let live = storage.liveValue { try Int.fetchOne($0, sql: sql) ?? 0 }
        var values = live.snapshots.makeAsyncIterator()
        #expect(try await values.next() == 2)
        try await storage.query(Novel.self).updateAll { $0.year.set(to: 2026) }
        #expect(try await values.next() == 4)
    }

    @Test("A view that joins without naming columns is followed")
    func viewOfJoin() async throws {
        let storage = try await open()
        try await storage.write {
            try $0.execute("CREATE VIEW pairs AS SELECT n.id, year FROM novels AS n JOIN chapters AS c USING (id)")
        }
        let live = storage.liveValue { try Int.fetchOne($0, sql: "SELECT count(*) FROM pairs") ?? 0 }
        var values = live.snapshots.makeAsyncIterator()
        #expect(try await values.next() == 2)
        try await storage.delete(Chapter.self, id: 1)
        #expect(try await values.next() == 1)
    }

    @Test("SQL that begins with a comment is followed")
    func comment() async throws {
        let storage = try await open()
        let live = storage.liveValue {
            try Int.fetchOne($0, sql: "-- Of all novels\nSELECT sum(pages) FROM chapters") ?? 0
        }
        var values = live.snapshots.makeAsyncIterator()
        #expect(try await values.next() == 30)
        try await storage.delete(Chapter.self, id: 1)
        #expect(try await values.next() == 20)
    }

    @Test("A value is followed with what it was before")
    func value() async throws {
        let storage = try await open()
        let live = storage.liveValue { try Int.fetchOne($0, sql: "SELECT sum(pages) FROM chapters") ?? 0 }
        var differences = live.differences.makeAsyncIterator()
        #expect(try await differences.next()?.new == 30)
        try await storage.delete(Chapter.self, id: 1)
        let difference = try #require(await differences.next())
        #expect(difference.old == 30)
        #expect(difference.new == 20)
    }

    @Test("SQL that can't be answered throws, and an error of one run doesn't end the sequence")
    func errors() async throws {
        let storage = try await open()
        let wrong = storage.live { try Total.fetchAll($0, sql: "SELECT id, pages FROM nowhere") }
        var sequence = wrong.snapshots.makeAsyncIterator()
        await #expect(throws: StorageError.self) { try await sequence.next() }
        let errors = Counter()
        let live = storage.liveValue { db in
            let pages = try Int.fetchOne(db, sql: "SELECT sum(pages) FROM chapters") ?? 0
            guard pages < 100 else { throw StorageError(.limitExceeded, "Too many pages.", remedy: "Write less.") }
            return pages
        }
        var pages = live.snapshots { _ in errors.add() }.makeAsyncIterator()
        #expect(try await pages.next() == 30)
        try await storage.save(Chapter(id: 3, pages: 100, novelId: 1))
        let later = Task { [pages] in
            var pages = pages
            return try await pages.next()
        }
        while errors.value == 0 { await Task.yield() }
        try await storage.save(Chapter(id: 3, pages: 5, novelId: 1))
        #expect(try await later.value == 35)
    }

    @Test("A reader that is cancelled while the SQL runs ends without an error", arguments: [false, true])
    func cancelledDuringRun(hasValue: Bool) async throws {
        let storage = try await open()
        let (runs, errors) = (Counter(), Counter())
        let live = storage.liveValue { db in
            let chapters = try Int.fetchOne(db, sql: "SELECT count(*) FROM chapters") ?? 0
            if hasValue, chapters == 2 { return chapters }
            runs.add()
            let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
            return try Int.fetchOne(db, sql: endless) ?? 0
        }
        var values = live.snapshots { _ in errors.add() }.makeAsyncIterator()
        if hasValue {
            #expect(try await values.next() == 2)
            try await storage.save(Chapter(id: 3, pages: 1, novelId: 1))
        }
        let reading = Task { [values] in
            var values = values
            return try await values.next()
        }
        while runs.value == 0 { await Task.yield() }
        reading.cancel()
        #expect(try await reading.value == nil)
        #expect(errors.value == 0)
    }

    @Test("The difference of two lists leads from one to the other", arguments: testSeeds(200))
    func listDifference(seed: UInt64) {
        struct Item: Equatable {
            let id: Int
            let text: Int
        }
        var generator = SplitMix64(seed: seed)
        func list(_ generator: inout SplitMix64) -> [Item] {
            let range = 1 + generator.below(20)
            return (0..<generator.below(25)).map { _ in
                Item(id: generator.below(range), text: generator.below(2))
            }
        }
        let old = list(&generator)
        var new = list(&generator)
        if generator.chance(50) {
            new = old
            for _ in 0..<generator.below(4) where !new.isEmpty {
                new.insert(new.remove(at: generator.below(new.count)), at: generator.below(new.count + 1))
            }
        }
        let difference = ListDifference(from: old, to: new, by: \.id, at: 1)
        var applied = old
        #expect(difference.fits(old))
        difference.apply(to: &applied)
        #expect(applied == new, "STORAGEKIT_SEED=\(seed)")
        if old == new {
            #expect(difference.whole == nil)
            #expect(difference.changes.isEmpty)
        }
    }
}
