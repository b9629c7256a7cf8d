import EntityTestSupport
import Observation
import StorageKit
import StorageTesting
import Testing

@testable import StorageEntities
@testable import StorageViews

/// Several views as one: never seen at different states, loading until all are there, and gone when nobody holds them.
@MainActor @Suite struct CombinedSubscriptionTests {
    private func open(cards count: Int) async throws -> Storage {
        let storage = try StorageKit.inMemory { $0.autoSchema(CardRecord.self) }.facade
        try await storage.save((0..<count).map { Card(id: $0, title: "", lane: "todo", rank: Double($0)) })
        return storage
    }

    private func lane(_ name: String, of storage: Storage) -> Query<Card> {
        storage.query(Card.self).where { $0.lane == name }
    }

    /// Every commit moves cards from one list to another; at any time each card is in exactly one.
    @Test("Combined views are never seen at different states")
    func combinedViewsAreConsistent() async throws {
        let storage = try await open(cards: 20)
        let todo = QuerySubscription(lane("todo", of: storage), start: .immediate)
        let done = QuerySubscription(lane("done", of: storage), start: .immediate)
        let first = SingleQuerySubscription(lane("todo", of: storage).orderBy(\.rank), start: .immediate)
        let combined = CombinedSubscription {
            todo
            done
            first
        }
        func fault() -> String? {
            let ids = (todo.items + done.items).map(\.id)
            if ids.count != 20 || Set(ids).count != 20 { return "\(ids.sorted()) at \(combined.position)" }
            let least = todo.items.min { ($0.rank ?? 0) < ($1.rank ?? 0) }
            return first.item == least ? nil : "first is \(first.item?.id ?? -1) of \(todo.items.map(\.id))"
        }
        let last = storage.head + Self.events(150) + 1
        // The first position is read before anything is written: there are at least two, however slow the reader is.
        var reader = combined.positions.makeAsyncIterator()
        var positions = [try #require(await reader.next())]
        let writing = Task.detached {
            for round in 0..<150 {
                try await storage.write { tx in
                    try tx.execute(
                        "UPDATE cards SET lane = CASE lane WHEN 'todo' THEN 'done' ELSE 'todo' END WHERE id % 7 = \(round % 7)"
                    )
                }
            }
            // Rounds that are applied together may lead back to where they began, which is no change; this can't.
            try await storage.write { try $0.execute("UPDATE cards SET title = 'end' WHERE id = 0") }
        }
        let watching = Task {
            var faults: [String] = []
            while !Task.isCancelled {
                if let fault = fault() { faults.append(fault) }
                await Task.yield()
            }
            return faults
        }
        while let position = await reader.next() {
            positions.append(position)
            // Other steps may have been made since it was delivered.
            #expect(fault() == nil)
            #expect(position <= combined.position)
            if position == last { break }
        }
        try await writing.value
        watching.cancel()
        #expect(await watching.value == [])
        #expect(positions == positions.sorted())
        #expect(Set(positions).count == positions.count)
        #expect(positions.count > 1)
    }

    /// How many events so many rounds are: one for each card of a remainder.
    private static func events(_ rounds: Int) -> Int64 {
        var count: Int64 = 0
        for round in 0..<rounds {
            for card in 0..<20 where card % 7 == round % 7 { count += 1 }
        }
        return count
    }

    @Test("A combination is loading until all its views have loaded")
    func loadingUntilAllHaveLoaded() async throws {
        let storage = try await open(cards: 3)
        let combined = CombinedSubscription {
            QuerySubscription(lane("todo", of: storage), start: .immediate)
            QuerySubscription(lane("done", of: storage), start: .background)
            QuerySubscription(lane("todo", of: storage), start: .background)
        }
        #expect(combined.isLoading)
        #expect(combined.loadingProgress == 1.0 / 3)
        var positions = combined.positions.makeAsyncIterator()
        #expect(await positions.next() == storage.head)
        #expect(!combined.isLoading)
        #expect(combined.loadingProgress == 1)
        #expect(!combined.hasErrors)
        let refreshes = combined.subscriptions.map(\.refreshCount)
        await combined.refreshAll()
        #expect(combined.subscriptions.map(\.refreshCount) == refreshes.map { $0 + 1 })
        #expect(!combined.isLoading)
        let nothing = CombinedSubscription {}
        #expect(!nothing.isLoading)
        #expect(nothing.loadingProgress == 1)
        #expect(nothing.position == 0)
    }

    /// The position needn't change with the views: that of the one store is the higher one all the time.
    @Test("Changes in several stores, and of pages, are all noticed", .timeLimit(.minutes(10)))
    func changesAtTheSamePosition() async throws {
        let (long, short) = (try await open(cards: 20), try await open(cards: 1))
        let page = PaginatedQuerySubscription(lane("todo", of: long), pageSize: 5, start: .immediate)
        let list = QuerySubscription(lane("todo", of: short), start: .immediate)
        let combined = CombinedSubscription {
            page
            list
        }
        var positions = combined.positions.makeAsyncIterator()
        #expect(await positions.next() == long.head)
        await short.waitForViews(through: try await short.save(Card(id: 9, title: "", lane: "todo", rank: 0)))
        #expect(await positions.next() == long.head)
        #expect(list.items.count == 2)
        await page.goToNextPage()
        #expect(await positions.next() == long.head)
        #expect(page.currentPageIndex == 1)
    }

    @Test("An error of one view is an error of the combination")
    func oneErrorFailsCombination() async throws {
        let storage = try await open(cards: 3)
        let wrong = QuerySubscription(storage.query(Card.self).orderBy("nothing"), start: .immediate)
        let right = QuerySubscription(storage.query(Card.self), start: .immediate)
        let combined = CombinedSubscription {
            right
            wrong
        }
        #expect(combined.hasErrors)
        #expect(combined.errors.map(\.code) == [.invalidName])
        #expect(!combined.isLoading)
        #expect(combined.error?.code == .invalidName)
        // The other ones go on.
        await storage.waitForViews(through: try await storage.save(Card(id: 9, title: "", lane: "", rank: 0)))
        #expect(right.items.count == 4)
        #expect(combined.position == storage.head)
    }

    @Test("A combination is observable")
    func combinationIsObservable() async throws {
        let storage = try await open(cards: 1)
        let combined = CombinedSubscription { QuerySubscription(storage.query(Card.self), start: .immediate) }
        await confirmation { changed in
            withObservationTracking {
                _ = combined.position
            } onChange: {
                changed()
            }
            let saved = try? await storage.save(Card(id: 2, title: "", lane: "", rank: 0))
            if let saved { await storage.waitForViews(through: saved) }
        }
    }

    @Test("The builder takes conditions and loops")
    func conditionsAndLoopsInBuilder() async throws {
        let storage = try await open(cards: 1)
        let lanes = ["a", "b", "c"]
        let inner = CombinedSubscription { QuerySubscription(lane("d", of: storage), start: .immediate) }
        func count(_ isLong: Bool) -> Int {
            CombinedSubscription {
                for name in lanes { QuerySubscription(lane(name, of: storage), start: .immediate) }
                if isLong { SingleQuerySubscription(lane("e", of: storage), start: .immediate) }
                if isLong {
                    inner
                } else {
                    QuerySubscription(lane("f", of: storage), start: .immediate)
                    QuerySubscription(lane("g", of: storage), start: .immediate)
                }
            }.subscriptions.count
        }
        #expect(count(true) == 5)
        #expect(count(false) == 5)
    }

    @Test("Nothing is left when a combination is dropped")
    func droppedCombinationLeavesNothing() async throws {
        let storage = try await open(cards: 1)
        var combined: CombinedSubscription? = CombinedSubscription {
            QuerySubscription(lane("todo", of: storage), start: .immediate)
            PaginatedQuerySubscription(lane("done", of: storage), start: .immediate)
        }
        weak let dropped = combined
        weak let view = combined?.subscriptions.last
        var positions: SubscriptionSequence<Int64>? = combined?.positions
        combined = nil
        // The sequence keeps it.
        #expect(dropped != nil)
        #expect(positions != nil)
        positions = nil
        #expect(dropped == nil)
        #expect(view == nil)
        #expect(await storage.subscriptions.nodeCount == 0)
        // What was being waited for may still come.
        _ = try await storage.save(Card(id: 2, title: "", lane: "todo", rank: 0))
    }

    @Test("Cancelling and closing end a combination")
    func cancellingAndClosing() async throws {
        let storage = try await open(cards: 1)
        let combined = CombinedSubscription { QuerySubscription(storage.query(Card.self), start: .immediate) }
        var positions = combined.positions.makeAsyncIterator()
        #expect(await positions.next() == storage.head)
        combined.cancel()
        #expect(await positions.next() == nil)
        #expect(!combined.isActive)
        let closing = CombinedSubscription { QuerySubscription(storage.query(Card.self), start: .immediate) }
        var last = closing.positions.makeAsyncIterator()
        #expect(await last.next() == storage.head)
        try await storage.close()
        while await last.next() != nil {}
        #expect(!closing.isActive)
    }
}
