import StorageKit
import StorageTesting
import TestSupport
import Testing

@testable import StorageViews

/// Live queries with conditions in SQL that read tables beside the row.
@MainActor @Suite(.timeLimit(.minutes(10))) struct ConditionSQLTests {
    private func novels(_ storage: Storage, _ sql: String, _ values: StorageValue...) -> Query<Novel> {
        storage.query(Novel.self).where { _ in .sql(sql, values) }
    }

    @Test(
        "A change of what a condition reads reaches the query",
        arguments: [
            "publisherId IN (SELECT id FROM publishers WHERE city = 'Kyiv')",
            "EXISTS (SELECT 1 FROM publishers WHERE publishers.id = novels.publisherId AND city = 'Kyiv')",
            "publisherId IN kyivers",
            "id = 1 AND (SELECT count(*) FROM kyivers) = 1 OR id = 2 AND (SELECT count(*) FROM kyivers) = 2",
            "id = 1 OR rowid = 2 AND rowid IN (SELECT novels.id FROM novels, kyivers WHERE kyivers.id = publisherId)",
        ])
    func readTables(sql: String) async throws {
        let storage = try await Library.filled()
        try await storage.write {
            try $0.execute("CREATE VIEW kyivers AS SELECT id FROM publishers WHERE city = 'Kyiv'")
        }
        let list = QuerySubscription(novels(storage, sql), start: .immediate)
        let before = list.items
        #expect(before == [Novel(id: 1, year: 1990, novelistId: "a", publisherId: 1)])
        await storage.waitForViews(through: try await storage.save(Publisher(id: 2, city: "Kyiv")))
        #expect(list.items == (try await novels(storage, sql).fetch()))
        #expect(list.items != before)
    }

    @Test("The query's own table counts where the condition reads it beside the row, whatever else the row must meet")
    func ownTable() async throws {
        let storage = try await Library.filled()
        let newest = novels(storage, "year = (SELECT max(year) FROM novels)").where { $0.publisherId == 2 }
        let list = QuerySubscription(newest, start: .immediate)
        #expect(list.items.map(\.id) == [3])
        await storage.waitForViews(through: try await storage.save(Novel(id: 4, year: 2021, publisherId: 1)))
        #expect(list.items.isEmpty)
        #expect(
            "\(try #require(await list.explain()))" == """
                runs again after some changes
                  novels: found by publisherId =; runs again, because only SQLite can evaluate its condition, which has SQL \
                or a collation of your own
                  novels: every change is looked at; runs again, because a condition in SQL reads it; woken 1 time
                """)
    }

    @Test("A condition on the row alone follows no other table, and a table that it doesn't read doesn't wake it")
    func otherTables() async throws {
        let storage = try await Library.filled()
        let alone = QuerySubscription(novels(storage, "year IN (1990, 2010)"), start: .immediate)
        let reading = QuerySubscription(
            novels(storage, "id IN (SELECT novelId FROM chapters)"), start: .immediate)
        #expect(try #require(await alone.explain()).tables.map(\.name) == ["novels"])
        #expect(try #require(await reading.explain()).tables.map(\.name) == ["novels", "chapters"])
        let reloads = await storage.subscriptions.counters.reloads
        await storage.waitForViews(through: try await storage.save(Publisher(id: 9, city: "Kyiv")))
        #expect(await storage.subscriptions.counters.reloads == reloads)
        await storage.waitForViews(through: try await storage.save(Chapter(id: 1, pages: 3, novelId: 2)))
        #expect(await storage.subscriptions.counters.reloads == reloads + 1)
        #expect(reading.items.map(\.id) == [2])
    }

    @Test("A recreated view counts as changed once a commit concerns a live query")
    func recreatedView() async throws {
        let storage = try await Library.filled()
        try await storage.write { try $0.execute("CREATE VIEW wanted AS SELECT novelId FROM chapters") }
        let list = QuerySubscription(novels(storage, "id IN wanted"), start: .immediate)
        #expect(list.items.isEmpty)
        let receipt = try await storage.write { tx in
            try tx.execute("DROP VIEW wanted")
            try tx.execute("CREATE VIEW wanted AS SELECT id FROM publishers")
            try tx.save(Chapter(id: 1, pages: 1, novelId: 9))
        }
        await storage.waitForViews(through: receipt)
        #expect(list.items.map(\.id) == [1, 2])
        await storage.waitForViews(through: try await storage.delete(Publisher.self, id: 1))
        #expect(list.items.map(\.id) == [2])
    }

    @Test("Conditions of related rows and of included ones are followed as well")
    func nestedConditions() async throws {
        let storage = try await Library.filled()
        let long = RowPredicate.sql("id IN (SELECT novelId FROM chapters WHERE pages > 9)")
        let query = storage.query(Novelist.self).has(\.novels) { _ in long }.include(\.novels) {
            $0.where { _ in long }
        }
        let list = QuerySubscription(query, start: .immediate)
        #expect(list.items.isEmpty)
        await storage.waitForViews(through: try await storage.save(Chapter(id: 1, pages: 10, novelId: 3)))
        #expect(list.items.map(\.id) == ["b"])
        #expect(list.items.first?.novels.map(\.id) == [3])
    }

    @Test("A reader that was away gets what a change of another table has done")
    func resumes() async throws {
        let storage = try await Library.filled()
        let live = novels(storage, "publisherId IN (SELECT id FROM publishers WHERE city = ?)", "Kyiv").live()
        var first = live.differences.makeAsyncIterator()
        let whole = try #require(await first.next())
        #expect(whole.whole?.map(\.id) == [1])
        try await storage.save(Publisher(id: 2, city: "Kyiv"))
        var resumed = live.differences(since: whole.position).makeAsyncIterator()
        var rows = whole.whole ?? []
        try #require(await resumed.next()).apply(to: &rows)
        #expect(rows.map(\.id) == [1, 2, 3])
    }
}
