import EntityTestSupport
import Foundation
import StorageKit
import StorageTesting
import Testing

@testable import StorageEntities
@testable import StorageViews

/// Lists, pages and single rows that follow the store.
@MainActor @Suite struct LiveListTests {
    private func open() throws -> Storage {
        try StorageKit.inMemory { $0.autoSchema(CardRecord.self) }.facade
    }

    private func cards(_ ids: some Sequence<Int>, lane: String = "todo") -> [Card] {
        ids.map { Card(id: $0, title: "card \($0)", lane: lane, rank: Double($0)) }
    }

    @Test("The first value is available at once")
    func firstValueIsImmediate() async throws {
        let storage = try open()
        try await storage.save(cards(0..<5))
        let list = QuerySubscription(storage.query(Card.self).where { $0.id > 2 }, start: .immediate)
        #expect(list.items.map(\.id) == [3, 4])
        #expect(!list.isLoading)
        #expect(list.error == nil)
        let later = QuerySubscription(storage.query(Card.self), start: .background)
        #expect(later.items.isEmpty)
        #expect(later.isLoading)
        var snapshots = later.snapshots.makeAsyncIterator()
        #expect(await snapshots.next()?.count == 5)
        #expect(!later.isLoading)
    }

    @Test("A list follows every way of writing")
    func listFollowsEveryWrite() async throws {
        let storage = try open()
        try await storage.save(cards(0..<4))
        let list = QuerySubscription(
            storage.query(Card.self).where { $0.lane == "todo" }.orderBy(\.rank, .descending).limit(3),
            start: .immediate)
        #expect(list.items.map(\.id) == [3, 2, 1])
        await storage.waitForViews(through: try await storage.save(Card(id: 9, title: "new", lane: "todo", rank: 2.5)))
        #expect(list.items.map(\.id) == [3, 9, 2])
        await storage.waitForViews(
            through: try await storage.write { try $0.execute("UPDATE cards SET rank = -1 WHERE id = 3") })
        #expect(list.items.map(\.id) == [9, 2, 1])
        await storage.waitForViews(
            through: try await storage.write { try $0.execute("UPDATE cards SET lane = 'done' WHERE id = 2") })
        #expect(list.items.map(\.id) == [9, 1, 0])
        await storage.waitForViews(
            through: try await storage.deleteAll(Card.self, where: "id", equals: 9).receipt(storage))
        #expect(list.items.map(\.id) == [1, 0, 3])
        let position = list.position
        #expect(position == storage.head)
        // What doesn't concern it leaves it alone.
        await storage.waitForViews(through: try await storage.save(Card(id: 20, title: "x", lane: "done", rank: 9)))
        #expect(list.position == position)
    }

    @Test("Differences lead from each list to the next")
    func differencesLeadToNextList() async throws {
        let storage = try open()
        try await storage.save(cards(0..<10))
        let list = QuerySubscription(storage.query(Card.self).orderBy(\.title).limit(4), start: .immediate)
        var rows: [Card] = []
        var differences = list.differences.makeAsyncIterator()
        let first = try #require(await differences.next())
        #expect(first.whole?.count == 4)
        first.apply(to: &rows)
        for round in 0..<20 {
            await storage.waitForViews(
                through: try await storage.write { tx in
                    try tx.save(Card(id: round % 10, title: "card \((round * 7) % 13)", lane: "todo", rank: nil))
                    if round % 5 == 4 { try tx.delete(Card.self, id: round % 3) }
                })
            guard list.position > 0, list.position == storage.head else { continue }
            let difference = try #require(await differences.next())
            #expect(difference.whole == nil)
            difference.apply(to: &rows)
            #expect(rows == list.items)
            #expect(difference.position == list.position)
        }
        let fresh = try await storage.query(Card.self).orderBy(\.title).limit(4).fetch()
        #expect(list.items == fresh)
    }

    @Test("A slow reader gets everything pending as one difference")
    func slowReaderGetsOneDifference() async throws {
        let storage = try open()
        let list = QuerySubscription(storage.query(Card.self), start: .immediate)
        var differences = list.differences.makeAsyncIterator()
        var rows: [Card] = []
        try #require(await differences.next()).apply(to: &rows)
        for id in 0..<1_000 { try await storage.save(Card(id: id, title: "", lane: "", rank: nil)) }
        // Otherwise the insert of a row and the change below may be one step, and the steps just few enough.
        await storage.subscriptions.catchUp()
        await storage.waitForViews(through: try await storage.save(cards(0..<1)))
        let all = try #require(await differences.next())
        // Too many to be delivered one by one.
        #expect(all.whole != nil)
        #expect(all.changes.count < 1_000)
        all.apply(to: &rows)
        #expect(rows == list.items)
        #expect(rows.count == 1_000)
    }

    @Test("A store reports how much work its views cause")
    func workOfViews() async throws {
        let storage = try open()
        try await storage.save(cards(0..<5))
        #expect(await storage.subscriptionWork.steps == 0)
        let list = QuerySubscription(storage.query(Card.self).where { $0.id > 2 }, start: .immediate)
        let before = await storage.subscriptionWork
        await storage.waitForViews(through: try await storage.save(Card(id: 1, title: "other", lane: "", rank: nil)))
        let skippedTransactions = await storage.subscriptionWork
        #expect(skippedTransactions.steps == before.steps)
        #expect(skippedTransactions.duration == before.duration)
        #expect(skippedTransactions.skippedTransactions == before.skippedTransactions + 1)
        #expect(skippedTransactions.statements == before.statements)
        await storage.waitForViews(through: try await storage.save(Card(id: 4, title: "other", lane: "", rank: nil)))
        let after = await storage.subscriptionWork
        #expect(after.steps == before.steps + 1)
        #expect(after.duration > before.duration)
        #expect(after.skippedTransactions == skippedTransactions.skippedTransactions)
        #expect(list.items.last?.title == "other")
    }

    @Test("Pages are turned and stay correct")
    func pagination() async throws {
        let storage = try open()
        try await storage.save(cards(0..<45))
        let page = PaginatedQuerySubscription(storage.query(Card.self).orderBy(\.rank), pageSize: 10, start: .immediate)
        #expect(page.totalCount == 45)
        #expect(page.totalPages == 5)
        #expect(page.hasNextPage)
        #expect(!page.hasPreviousPage)
        let statements = await storage.subscriptions.counters.statements
        await page.goToNextPage()
        #expect(page.currentPage.map(\.id) == Array(10..<20))
        #expect(page.currentPageIndex == 1)
        #expect(await storage.subscriptions.counters.statements <= statements + 1)
        await page.goToPage(4)
        #expect(page.currentPage.map(\.id) == Array(40..<45))
        #expect(!page.hasNextPage)
        #expect(page.hasPreviousPage)
        await page.goToPage(3)
        await storage.waitForViews(through: try await storage.save(Card(id: 100, title: "", lane: "", rank: -1)))
        #expect(page.currentPage.map(\.id) == Array(29..<39))
        #expect(page.totalCount == 46)
        // The page that is looked at goes away.
        await page.goToPage(99)
        #expect(page.currentPage.map(\.id) == Array(39..<45))
        await storage.waitForViews(
            through: try await storage.write { try $0.execute("DELETE FROM cards WHERE id >= 35") })
        while page.currentPage.isEmpty { await Task.yield() }
        #expect(page.totalCount == 35)
        #expect(page.currentPageIndex == 3)
        #expect(page.currentPage.map(\.id) == Array(30..<35))
    }

    @Test("Turns at the same time turn a page each")
    func turnsAtTheSameTime() async throws {
        let storage = try open()
        try await storage.save(cards(0..<45))
        typealias Turn = @MainActor @Sendable () async -> Void
        func together(_ turns: [Turn]) async {
            await withTaskGroup { group in
                for turn in turns { group.addTask { await turn() } }
            }
        }
        for style in [PaginatedQuerySubscription<Card>.Style.numbered, .anchored] {
            let page = PaginatedQuerySubscription(
                storage.query(Card.self).orderBy(\.rank), pageSize: 10, style: style, start: .immediate)
            let next: Turn = { await page.goToNextPage() }
            let previous: Turn = { await page.goToPreviousPage() }
            await together([next, next, next])
            #expect(page.currentPage.map(\.id) == Array(30..<40))
            await together([next, next, next])
            #expect(page.currentPage.map(\.id) == Array(40..<45))
            await together([previous, previous])
            #expect(page.currentPage.map(\.id) == Array(20..<30))
        }
        let list = PaginatedQuerySubscription(
            storage.query(Card.self), pageSize: 10, style: .scrolling, start: .immediate)
        await together([{ await list.goToNextPage() }, { await list.goToNextPage() }])
        #expect(list.currentPage.count == 30)
    }

    @Test("A page that is larger than any table holds all rows")
    func hugePages() async throws {
        let storage = try open()
        try await storage.save(cards(0..<3))
        let styles: [PaginatedQuerySubscription<Card>.Style] = [.numbered, .anchored, .scrolling]
        for style in styles {
            let page = PaginatedQuerySubscription(
                storage.query(Card.self), pageSize: .max, prefetchThreshold: .max, style: style, start: .immediate)
            #expect(page.currentPage.map(\.id) == [0, 1, 2])
            #expect(page.totalPages == 1)
            await page.goToPage(5)
            await page.goToNextPage()
            #expect(page.currentPage.map(\.id) == [0, 1, 2])
            #expect(page.currentPageIndex == 0)
            #expect(page.item(at: 2)?.id == 2)
            #expect(page.error == nil)
        }
    }

    @Test("A page returns to the last one if only SQLite can compare the rows")
    func lastPageUnderOwnCollation() async throws {
        let storage = try StorageKit.inMemory {
            $0.autoSchema(CardRecord.self)
            // GRDB adds this collation to every connection.
            $0.migration("titles as Swift compares them") { db in
                try db.execute(
                    sql: """
                        CREATE TABLE new_cards (
                            id INTEGER PRIMARY KEY NOT NULL, title TEXT NOT NULL COLLATE swiftCompare, lane TEXT NOT NULL, rank REAL,
                            updatedAt DATETIME NOT NULL);
                        DROP TABLE cards;
                        ALTER TABLE new_cards RENAME TO cards;
                        """)
            }
        }.facade
        try await storage.save((0..<200).map { Card(id: $0, title: "\(1_000 + $0)", lane: "todo", rank: nil) })
        let page = PaginatedQuerySubscription(
            storage.query(Card.self).orderBy(\.title), pageSize: 20, start: .immediate)
        await page.goToPage(9)
        #expect(page.currentPage.map(\.id) == Array(180..<200))
        await storage.waitForViews(
            through: try await storage.write { try $0.execute("DELETE FROM cards WHERE id >= 100") })
        #expect(page.error == nil)
        #expect(page.currentPage.map(\.id) == Array(80..<100))
        #expect(page.currentPageIndex == 4)
        #expect(page.totalCount == 100)
    }

    @Test("An anchored page stays at its row")
    func anchoredPage() async throws {
        let storage = try open()
        try await storage.save(cards(0..<30))
        let page = PaginatedQuerySubscription(
            storage.query(Card.self).orderBy(\.rank), pageSize: 5, style: .anchored, start: .immediate)
        await page.goToPage(2)
        await storage.waitForViews(through: try await storage.save(Card(id: 100, title: "", lane: "", rank: -1)))
        #expect(page.currentPage.map(\.id) == Array(10..<15))
        #expect(page.offset == 11)
        await storage.waitForViews(
            through: try await storage.write { try $0.execute("DELETE FROM cards WHERE id < 3 OR id = 12") })
        #expect(page.currentPage.map(\.id) == [10, 11, 13, 14, 15])
        #expect(page.offset == 8)
    }

    @Test("A scrolling list grows")
    func scrollingList() async throws {
        let storage = try open()
        try await storage.save(cards(0..<25))
        let page = PaginatedQuerySubscription(
            storage.query(Card.self), pageSize: 10, style: .scrolling, start: .immediate)
        #expect(page.item(at: 2)?.id == 2)
        #expect(page.currentPage.count == 10)
        #expect(page.item(at: 8)?.id == 8)
        while page.currentPage.count == 10 { await Task.yield() }
        #expect(page.currentPage.count == 20)
        #expect(page.hasNextPage)
        await page.goToNextPage()
        #expect(page.currentPage.count == 25)
        #expect(!page.hasNextPage)
    }

    @Test("A view that was just made shows a commit that is waited for")
    func openingViewsAreWaitedFor() async throws {
        let storage = try open()
        let list = QuerySubscription(storage.query(Card.self).orderBy(\.rank))
        let count = CountSubscription(storage.query(Card.self))
        await storage.waitForViews(through: try await storage.save(cards(0..<3)))
        #expect(list.items.count == 3)
        #expect(count.count == 3)
        try await storage.close()
        let late = QuerySubscription(storage.query(Card.self))
        while late.isActive { await Task.yield() }
        #expect(late.items.isEmpty)
    }

    @Test("A single-row view is nil while there is no row")
    func singleRow() async throws {
        let storage = try open()
        let newest = storage.repository(Card.self).subscribeSingle(
            query: storage.query(Card.self).orderBy(\.rank, .descending), start: .immediate)
        #expect(newest.item == nil)
        #expect(!newest.isLoading)
        await storage.waitForViews(through: try await storage.save(cards(0..<3)))
        #expect(newest.item?.id == 2)
        await storage.waitForViews(through: try await storage.delete(Card.self, id: 2))
        #expect(newest.item?.id == 1)
    }

    @Test("An invalid query is reported by its view")
    func invalidQuery() async throws {
        let storage = try open()
        let list = QuerySubscription(storage.query(Card.self).orderBy("nothing"), start: .immediate)
        #expect(list.error?.code == .invalidName)
        #expect(list.items.isEmpty)
        #expect(!list.isLoading)
        let page = PaginatedQuerySubscription(storage.query(Card.self).limit(3), start: .immediate)
        #expect(page.error?.code == .invalidArgument)
        for query in [storage.query(Card.self).limit(-1), storage.query(Card.self).offset(-1)] {
            #expect(QuerySubscription(query, start: .immediate).error?.code == .invalidArgument)
            #expect(PaginatedQuerySubscription(query, start: .immediate).error?.code == .invalidArgument)
        }
        #expect(await storage.subscriptions.nodeCount == 0)
    }

    @Test("Nothing is left of a dropped view")
    func droppedViewLeavesNothing() async throws {
        let storage = try open()
        var list: QuerySubscription<Card>? = QuerySubscription(storage.query(Card.self), start: .immediate)
        weak let dropped = list
        let sequence = list?.snapshots
        #expect(storage.engine.observers.isEmpty == false)
        list = nil
        // The sequence keeps it.
        #expect(dropped != nil)
        _ = consume sequence
        #expect(dropped == nil)
        #expect(await storage.subscriptions.nodeCount == 0)
        #expect(storage.engine.observers.isEmpty)
    }

    @Test("Closing the store ends its views and streams")
    func closingEndsViews() async throws {
        let store = try TemporaryStore { $0.autoSchema(CardRecord.self) }
        let list = QuerySubscription(store.storage.query(Card.self), start: .immediate)
        var snapshots = list.snapshots.makeAsyncIterator()
        var stream = store.storage.observeAll(Card.self).makeAsyncIterator()
        #expect(await snapshots.next()?.isEmpty == true)
        #expect(await stream.next()?.isEmpty == true)
        try await store.storage.close()
        #expect(await snapshots.next() == nil)
        #expect(await stream.next() == nil)
        #expect(!list.isActive)
        await list.refresh()
    }

    @Test("Streams deliver every state")
    func streamsDeliverEveryState() async throws {
        let storage = try open()
        try await storage.save(cards(0..<2))
        var one = storage.observe(Card.self, id: 1).makeAsyncIterator()
        var all = storage.observeAll(Card.self, orderBy: "rank", ascending: false).makeAsyncIterator()
        var distinct = storage.anyRepository(Card.self).observeAllDistinct().makeAsyncIterator()
        #expect(await one.next()??.title == "card 1")
        #expect(await all.next()?.map(\.id) == [1, 0])
        #expect(await distinct.next()?.count == 2)
        try await storage.save(Card(id: 1, title: "changed", lane: "", rank: -3))
        #expect(await one.next()??.title == "changed")
        #expect(await all.next()?.map(\.id) == [0, 1])
        #expect(await distinct.next()?.last?.title == "changed")
        try await storage.delete(Card.self, id: 1)
        let gone = try #require(await one.next())
        #expect(gone == nil)
        #expect(await all.next()?.map(\.id) == [0])
    }

    @Test("A stream of distinct lists delivers a text in another Unicode form", .timeLimit(.minutes(10)))
    func distinctUnicodeForm() async throws {
        let storage = try open()
        try await storage.save(Card(id: 1, title: "\u{e9}", lane: "", rank: 0))
        var distinct = storage.observeAllDistinct(Card.self).makeAsyncIterator()
        #expect(await distinct.next()?.map(\.title.utf8.count) == [2])
        try await storage.save(Card(id: 1, title: "e\u{301}", lane: "", rank: 0))
        #expect(await distinct.next()?.map(\.title.utf8.count) == [3])
    }

    /// A store that another process writes to, as far as the reader can tell.
    @Test("A reader follows another writer")
    func readerFollowsAnotherWriter() async throws {
        let store = try TemporaryStore { $0.autoSchema(CardRecord.self) }
        try await store.storage.save(cards(0..<3))
        let configuration = StorageConfig(isReadOnly: true)
        let reader = try StorageKit.start(at: store.url, config: configuration) {
            $0.autoSchema(CardRecord.self)
        }.facade
        let list = QuerySubscription(reader.query(Card.self).orderBy(\.rank, .descending).limit(2), start: .immediate)
        var snapshots = list.snapshots.makeAsyncIterator()
        #expect(await snapshots.next()?.map(\.id) == [2, 1])
        try await store.storage.save(cards(5..<9))
        #expect(await snapshots.next()?.map(\.id) == [8, 7])
        try await reader.close()
    }

    @Test("Views are reloaded after a schema change")
    func schemaChangeReloadsViews() async throws {
        let storage = try open()
        try await storage.save(cards(0..<3))
        let list = QuerySubscription(storage.query(Card.self).where { $0.lane == "todo" }, start: .immediate)
        // Each of many views is still updated.
        let cards = (0..<9).map { id in
            QuerySubscription(storage.query(Card.self).where { $0.id == id }, start: .immediate)
        }
        await storage.waitForViews(
            through: try await storage.write { try $0.execute("ALTER TABLE cards ADD COLUMN extra TEXT") })
        await storage.waitForViews(
            through: try await storage.write {
                try $0.execute("UPDATE cards SET extra = 'x', lane = 'done' WHERE id = 1")
            })
        #expect(list.items.map(\.id) == [0, 2])
        #expect(list.error == nil)
        await storage.waitForViews(through: try await storage.save(self.cards(0..<9, lane: "last")))
        #expect(list.items.isEmpty)
        #expect(cards.map { $0.items.first?.lane } == Array(repeating: "last", count: 9))
    }
}

extension Int {
    /// The state after what has just been done.
    fileprivate func receipt(_ storage: Storage) async throws -> CommitReceipt {
        try await storage.write { _ in }
    }
}
