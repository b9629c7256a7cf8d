import EntityTestSupport
import Foundation
import GRDB
import Observation
import StorageKit
import StorageTesting
import Synchronization
import TestSupport
import Testing

@testable import StorageEntities
@testable import StorageLog
@testable import StorageRouting
@testable import StorageViews

/// Views that open, are read again, turn pages or lose their store, each while something else is on its way.
@MainActor @Suite struct LiveRaceTests {
    private func open(_ cards: some Sequence<Int> = 0..<0) async throws -> Storage {
        let storage = try StorageKit.inMemory { $0.autoSchema(CardRecord.self) }.facade
        try await storage.save(cards.map { Card(id: $0, title: "card \($0)", lane: "todo", rank: Double($0)) })
        return storage
    }

    // MARK: Opening

    /// Keeps the engine of live views from doing anything.
    private func held(_ storage: Storage) async -> Hold {
        await Hold { body in storage.subscriptions.now { _ in body() } }
    }

    @Test("A view that is refreshed while it opens opens once")
    func refreshWhileOpening() async throws {
        let storage = try await open(0..<5)
        let hold = await held(storage)
        let list = QuerySubscription(storage.query(Card.self), start: .background)
        let refreshes = (0..<3).map { _ in Task { await list.refresh() } }
        // Everybody has had a turn of the main actor by then.
        for _ in 0..<20 { await Task.yield() }
        hold.end()
        for refresh in refreshes { await refresh.value }
        #expect(list.items.count == 5)
        #expect(!list.isLoading)
        #expect(await storage.subscriptions.counters.steps == 1)
        #expect(await storage.subscriptions.nodeCount == 1)
        await storage.waitForViews(through: try await storage.delete(Card.self, id: 3))
        #expect(list.items.map(\.id) == [0, 1, 2, 4])
    }

    @Test("A view that is cancelled while it opens stays as it is")
    func cancelWhileOpening() async throws {
        let storage = try await open(0..<5)
        let hold = await held(storage)
        let list = QuerySubscription(storage.query(Card.self), start: .background)
        for _ in 0..<20 { await Task.yield() }
        list.cancel()
        hold.end()
        await storage.waitForViews(through: try await storage.delete(Card.self, id: 3))
        #expect(list.items.isEmpty)
        #expect(list.refreshCount == 0)
        #expect(!list.isActive)
        while await storage.subscriptions.nodeCount > 0 { await Task.yield() }
    }

    @Test("An update that can't be applied is read again")
    func unappliableUpdateIsReloaded() async throws {
        let storage = try await open(0..<5)
        let list = QuerySubscription(storage.query(Card.self).orderBy(\.rank), start: .immediate)
        let handle = try #require(list.handle)
        try await storage.subscriptions.change(handle) { node, snapshot in
            guard let node = node as? ListNode<Card> else { throw StaleNode() }
            var update = ListUpdate<Card>()
            update.position = snapshot.position
            update.changes = [.remove(at: 1), .remove(at: 7)]
            let delivery = node.delivery(of: update, limit: .max)
            storage.subscriptions.deliveryQueue.post([delivery].compactMap(\.self))
        }
        storage.subscriptions.deliveryQueue.drain()
        // Neither half of it, nor what follows until it was read again.
        #expect(list.items.map(\.id) == Array(0..<5))
        await storage.waitForViews(through: try await storage.delete(Card.self, id: 3))
        while list.items.count != 4 { await Task.yield() }
        #expect(list.items.map(\.id) == [0, 1, 2, 4])
        #expect(list.error == nil)
        await storage.waitForViews(through: try await storage.delete(Card.self, id: 0))
        #expect(list.items.map(\.id) == [1, 2, 4])
    }

    /// The code that a program runs when a value is about to change runs in the middle of an update.
    @Test("A view that is opened during an update lets nothing be overtaken")
    func openedDuringUpdate() async throws {
        let storage = try await open(0..<2)
        let lists = (0..<2).map { _ in
            QuerySubscription(storage.query(Card.self).orderBy(\.rank), start: .immediate)
        }
        final class Opened: Sendable { let list = Mutex<QuerySubscription<Card>?>(nil) }
        let opened = Opened()
        withObservationTracking {
            for list in lists { _ = list.items }
        } onChange: {
            MainActor.assumeIsolated {
                do {
                    try storage.engine.withWriterNow { writer, db in
                        _ = try writer.group(db) {
                            try writer.commit(CommitMetadata()) {
                                try db.execute(sql: "DELETE FROM cards WHERE id = -1")
                            }
                        }
                    }
                } catch {
                    Issue.record(error)
                }
                let list = QuerySubscription(storage.query(Card.self).orderBy(\.rank), start: .immediate)
                opened.list.withLock { $0 = list }
            }
        }
        await storage.waitForViews(
            through: try await storage.save(Card(id: -1, title: "first", lane: "todo", rank: -1)))
        let last = try #require(opened.list.withLock { $0 })
        for list in lists + [last] {
            #expect(list.items.map(\.id) == [0, 1])
            #expect(list.position == storage.head)
        }
    }

    // MARK: Sequences

    @Test("Each reader of a sequence reads by itself")
    func severalReadersOfSequence() async throws {
        let storage = try await open(0..<2)
        let list = QuerySubscription(storage.query(Card.self), start: .immediate)
        let (snapshots, differences) = (list.snapshots, list.differences)
        var first = snapshots.makeAsyncIterator()
        var second = snapshots.makeAsyncIterator()
        #expect(await first.next()?.count == 2)
        #expect(await second.next()?.count == 2)
        await storage.waitForViews(through: try await storage.delete(Card.self, id: 1))
        #expect(await first.next()?.count == 1)
        #expect(await second.next()?.count == 1)
        for _ in 0..<2 {
            var reader = differences.makeAsyncIterator()
            var cards: [Card] = []
            await reader.next()?.apply(to: &cards)
            #expect(cards.map(\.id) == [0])
        }
        let totals = AggregationSubscription(storage.query(Card.self), .count, start: .immediate)
        let counts = totals.snapshots
        for _ in 0..<2 {
            var reader = counts.makeAsyncIterator()
            #expect(await reader.next() == 1)
        }
    }

    @Test(
        "A sequence that is asked for after the end is the last value", .timeLimit(.minutes(10)),
        arguments: [false, true])
    func sequenceAfterEnd(isClosed: Bool) async throws {
        let storage = try await open(0..<2)
        let list = QuerySubscription(storage.query(Card.self), start: .immediate)
        let totals = AggregationSubscription(storage.query(Card.self), .count, start: .immediate)
        let early = list.snapshots
        if isClosed {
            try await storage.close()
        } else {
            list.cancel()
            totals.cancel()
        }
        // The second iterator asks for a sequence of its own.
        for snapshots in [early, early, list.snapshots] {
            var counts: [Int] = []
            for await cards in snapshots { counts.append(cards.count) }
            #expect(counts == [2])
        }
        var wholes: [[Int]?] = []
        for await difference in list.differences { wholes.append(difference.whole?.map(\.id)) }
        #expect(wholes == [[0, 1]])
        var counts: [Int] = []
        for await count in totals.snapshots { counts.append(count) }
        #expect(counts == [2])
    }

    // MARK: Pages

    @Test("Turning a page waits for the first one")
    func turningBeforeFirstValue() async throws {
        let storage = try await open(0..<7)
        let query = storage.query(Card.self).orderBy(\.rank)
        let next = PaginatedQuerySubscription(query, pageSize: 3, start: .background)
        await next.goToNextPage()
        #expect(next.currentPage.map(\.id) == [3, 4, 5])
        let last = PaginatedQuerySubscription(query, pageSize: 3, start: .background)
        await last.goToPage(2)
        #expect(last.currentPage.map(\.id) == [6])
        let previous = PaginatedQuerySubscription(query, pageSize: 3, start: .background)
        await previous.goToPreviousPage()
        #expect(previous.currentPage.map(\.id) == [0, 1, 2])
    }

    @Test("Turning to a page whose rows are deleted shows the last one", arguments: [false, true])
    func pageTurnedWhileRowsVanish(isAnchored: Bool) async throws {
        let storage = try await open(0..<16)
        let page = PaginatedQuerySubscription(
            storage.query(Card.self).orderBy(\.rank), pageSize: 5, style: isAnchored ? .anchored : .numbered,
            start: .immediate)
        await page.goToPage(2)
        let hold = await held(storage)
        let turning = Task { await page.goToNextPage() }
        for _ in 0..<20 { await Task.yield() }
        let receipt = try await storage.delete(Card.self, id: 15)
        hold.end()
        await turning.value
        await storage.waitForViews(through: receipt)
        #expect(page.totalCount == 15)
        #expect(page.currentPage.map(\.id) == Array(10..<15))
        #expect(page.currentPageIndex == 2)
        #expect(!page.isLoading)
        #expect(!page.hasNextPage)
    }

    @Test("A page whose rows are deleted is never seen empty", arguments: [false, true])
    func pageNeverSeenEmpty(isAnchored: Bool) async throws {
        let storage = try await open(0..<45)
        let page = PaginatedQuerySubscription(
            storage.query(Card.self).orderBy(\.rank), pageSize: 10, style: isAnchored ? .anchored : .numbered,
            start: .immediate)
        await page.goToPage(4)
        await storage.waitForViews(
            through: try await storage.write { try $0.execute("DELETE FROM cards WHERE id >= 35") })
        #expect(page.currentPage.map(\.id) == Array(30..<35))
        #expect(page.offset == 30)
        #expect(page.totalCount == 35)
        // More than is kept beside the page.
        await storage.waitForViews(
            through: try await storage.write { try $0.execute("DELETE FROM cards WHERE id >= 2") })
        #expect(page.currentPage.map(\.id) == [0, 1])
        #expect(page.offset == 0)
        #expect(page.totalCount == 2)
        await storage.waitForViews(through: try await storage.write { try $0.execute("DELETE FROM cards") })
        #expect(page.currentPage.isEmpty)
        #expect(page.offset == 0)
        #expect(page.totalCount == 0)
    }

    // MARK: Closing

    /// A read that found the store open may come to its connection after that was closed.
    @Test("A read that arrives after closing is refused")
    func readOfClosedConnection() async throws {
        let queue = try DatabaseQueue()
        let engine = StorageEngine(
            path: ":memory:", configuration: StorageConfig(), pool: queue, lock: nil, writer: nil)
        #expect(try engine.readNow { try Int.fetchOne($0, sql: "SELECT 1") } == 1)
        #expect(try await engine.read { try Int.fetchOne($0, sql: "SELECT 1") } == 1)
        #expect(throws: (any Error).self) { try engine.readNow { try $0.execute(sql: "CREATE TABLE a(b)") } }
        try queue.close()
        #expect { try engine.readNow { _ in } } throws: { ($0 as? StorageError)?.code == .closed }
        await #expect { try await engine.read { _ in } } throws: { ($0 as? StorageError)?.code == .closed }
    }

    @Test("A store in memory is closed while its views read it")
    func closingWhileViewsRead() async throws {
        for round in 0..<max(20, Int(20 * testScale)) {
            let storage = try await open(0..<5)
            let writing = Task.detached {
                while true { try await storage.save(Card(id: .random(in: 0..<9), title: "", lane: "", rank: nil)) }
            }
            let reading = (0..<3).map { _ in
                Task.detached {
                    while true { _ = try await storage.query(Card.self).fetch() }
                }
            }
            let viewing = (0..<3).map { _ in
                Task {
                    while true {
                        let list = QuerySubscription(storage.query(Card.self), start: .background)
                        await list.refresh()
                        if let error = list.error { throw error }
                    }
                }
            }
            for _ in 0..<round % 7 { await Task.yield() }
            try await storage.close()
            for result in [await writing.result] { #expect(throws: StorageError.self) { try result.get() } }
            for task in reading + viewing {
                let result = await task.result
                #expect { try result.get() } throws: { ($0 as? StorageError)?.code == .closed }
            }
        }
    }

    @Test("Views of a timeline end with their store", .timeLimit(.minutes(10)))
    func timelineViewsEndWithStore() async throws {
        let storage = try await open(0..<3)
        let timeline = try await storage.timeline(from: .position(storage.head))
        let list = QuerySubscription(timeline.query(Card.self), start: .immediate)
        var snapshots = list.snapshots.makeAsyncIterator()
        #expect(await snapshots.next()?.count == 3)
        try await storage.close()
        #expect(await snapshots.next() == nil)
        #expect(!list.isActive)
    }

    // MARK: Many events at once

    @Test("A large import is read by the views it concerns")
    func largeImportReachesItsViews() async throws {
        let storage = try StorageKit.inMemory {
            $0.autoSchema(CardRecord.self)
            $0.autoSchema(PageRecord.self)
        }.facade
        try await storage.save(Card(id: 1, title: "one", lane: "todo", rank: nil))
        let todo = storage.query(Card.self).where { $0.lane == "todo" }
        let cards = (0..<5).map { id in
            QuerySubscription(storage.query(Card.self).where { $0.id == id }, start: .immediate)
        }
        let lane = QuerySubscription(todo.orderBy(\.rank).limit(3), start: .immediate)
        let count = CountSubscription(storage.query(Card.self), start: .immediate)
        let far = QuerySubscription(storage.query(Card.self).where { $0.id == 20_990 }, start: .immediate)
        let pages = QuerySubscription(storage.query(Page.self), start: .immediate)
        let before = await storage.subscriptions.counters
        let imported = "WITH RECURSIVE n(x) AS (SELECT 100 UNION ALL SELECT x + 1 FROM n WHERE x < 21099)"
        await storage.waitForViews(
            through: try await storage.write {
                try $0.execute(
                    """
                    \(imported) INSERT INTO cards(id, title, lane, updatedAt)
                    SELECT x, 'new', 'done', (SELECT updatedAt FROM cards) FROM n
                    """)
            })
        let after = await storage.subscriptions.counters
        #expect(count.count == 21_001)
        #expect(far.items.map(\.id) == [20_990])
        #expect(lane.items.map(\.id) == [1])
        #expect(cards[1].items.map(\.id) == [1])
        #expect(pages.items.isEmpty)
        // The count and the row that came; nobody else.
        #expect(after.reloads == before.reloads + 2)
        // Each row twice, so that not every change is kept by its row.
        let receipt = try await storage.write {
            try $0.execute("UPDATE cards SET title = 'a' WHERE id > 50")
            try $0.execute("UPDATE cards SET title = 'b', lane = 'todo', rank = id WHERE id > 50")
        }
        await storage.waitForViews(through: receipt)
        let fresh = try await todo.orderBy(\.rank).limit(3).fetch()
        #expect(lane.items == fresh)
        #expect(far.items.map(\.title) == ["b"])
        // Nothing of another table is read.
        #expect(await pages.explain()?.wakeups == 0)
    }
}
