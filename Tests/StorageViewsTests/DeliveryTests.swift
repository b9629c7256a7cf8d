import StorageCore
import StorageLog
import Synchronization
import Testing

@testable import StorageViews

/// What is new reaches its consumer once and in order, however slow that is, and an end comes last.
@Suite struct DeliveryTests {
    private typealias Numbers = ListUpdate<Int>

    private static func step(_ number: Int, at position: Int64) -> Numbers {
        var update = Numbers()
        (update.position, update.changes) = (position, [.insert(number, at: 0)])
        return update
    }

    /// What a consumer has got, in order.
    private final class Received: Sendable {
        let updates = Mutex<[Numbers]>([])
        let ends = Mutex(0)

        var positions: [Int64] { updates.withLock { $0.map(\.position) } }
        var stepCounts: [Int] { updates.withLock { $0.map(\.changes.count) } }

        func viewUpdate() -> PendingUpdate<Numbers> {
            PendingUpdate(
                onMainActor: { update in self.updates.withLock { $0.append(update) } },
                onEnd: { self.ends.withLock { $0 += 1 } })
        }
    }

    private static func delivery(_ update: Numbers, to pendingUpdate: PendingUpdate<Numbers>) -> Delivery {
        Delivery(pendingUpdate: pendingUpdate) { pendingUpdate.put(update) }
    }

    // MARK: Composing

    @Test("A reader that is slow gets what came meanwhile as one update")
    func slowReader() async {
        let pendingUpdate = PendingUpdate<Numbers>()
        pendingUpdate.put(Numbers([1, 2], at: 1))
        pendingUpdate.put(Self.step(3, at: 2))
        pendingUpdate.put(Self.step(4, at: 3))
        let update = await pendingUpdate.next()
        #expect(update?.position == 3)
        #expect(update?.whole == [1, 2])
        #expect(update?.changes == [.insert(3, at: 0), .insert(4, at: 0)])
        pendingUpdate.put(Self.step(5, at: 4))
        #expect(await pendingUpdate.next()?.changes == [.insert(5, at: 0)])
    }

    @Test("More steps than the limit become the whole")
    func tooManySteps() async {
        let pendingUpdate = PendingUpdate<Numbers>()
        for position in 1...3 as ClosedRange<Int64> {
            pendingUpdate.put(Self.step(0, at: position), limit: 3) { Numbers([0], at: position) }
        }
        pendingUpdate.put(Self.step(1, at: 4), limit: 3) { Numbers([1, 0, 0, 0], at: 4) }
        let update = await pendingUpdate.next()
        #expect(update?.whole == [1, 0, 0, 0])
        #expect(update?.changes == [])
        #expect(update?.position == 4)
    }

    @Test("A failure that comes behind steps is composed with them")
    func failureBehindSteps() async {
        let pendingUpdate = PendingUpdate<Numbers>()
        pendingUpdate.put(Self.step(1, at: 1))
        var failure = Numbers()
        (failure.position, failure.error) = (1, .closed())
        pendingUpdate.put(failure)
        let update = await pendingUpdate.next()
        #expect(update?.changes == [.insert(1, at: 0)])
        #expect(update?.error?.code == .closed)
    }

    // MARK: Sequences

    @Test("A reader that waits is given the next update, and nil at the end")
    func waitingReader() async {
        let pendingUpdate = PendingUpdate<Numbers>()
        async let first = pendingUpdate.next()
        pendingUpdate.put(Self.step(1, at: 1))
        #expect(await first?.position == 1)
        async let second = pendingUpdate.next()
        pendingUpdate.end()
        #expect(await second == nil)
        #expect(await pendingUpdate.next() == nil)
    }

    @Test("What is pending at the end is still handed over, and nothing after it")
    func pendingAtTheEnd() async {
        let pendingUpdate = PendingUpdate<Numbers>()
        pendingUpdate.put(Self.step(1, at: 1))
        pendingUpdate.end()
        pendingUpdate.put(Self.step(2, at: 2))
        #expect(await pendingUpdate.next()?.position == 1)
        #expect(await pendingUpdate.next() == nil)
    }

    @Test("A reader whose task is cancelled gets nil, and another one what comes later")
    func cancelledReader() async {
        let pendingUpdate = PendingUpdate<Numbers>()
        let reading = Task { await pendingUpdate.next() == nil }
        reading.cancel()
        #expect(await reading.value)
        pendingUpdate.put(Self.step(1, at: 1))
        #expect(await pendingUpdate.next()?.position == 1)
    }

    @Test("Nothing is kept for a reader that has gone")
    func abandoned() async {
        let pendingUpdate = PendingUpdate<Numbers>()
        pendingUpdate.put(Self.step(1, at: 1))
        pendingUpdate.abandon()
        pendingUpdate.put(Self.step(2, at: 2))
        #expect(await pendingUpdate.next() == nil)
    }

    // MARK: Closures

    @Test("A closure takes each update by itself, and nothing behind the end")
    func closure() {
        let received = Received()
        let pendingUpdate = PendingUpdate<Numbers>(
            immediately: { update in received.updates.withLock { $0.append(update) } },
            onEnd: { received.ends.withLock { $0 += 1 } })
        for position in 1...3 as ClosedRange<Int64> { pendingUpdate.put(Self.step(0, at: position)) }
        pendingUpdate.end()
        pendingUpdate.end()
        pendingUpdate.put(Self.step(0, at: 4))
        #expect(received.positions == [1, 2, 3])
        #expect(received.ends.withLock { $0 } == 1)
    }

    // MARK: The queue

    @MainActor @Test("All views of a step are called in one turn, each once")
    func oneTurn() {
        let queue = DeliveryQueue()
        let views = [Received(), Received()]
        let pendingUpdates = views.map { $0.viewUpdate() }
        queue.post(pendingUpdates.map { Self.delivery(Self.step(0, at: 1), to: $0) })
        queue.post([Self.delivery(Self.step(0, at: 2), to: pendingUpdates[1])])
        #expect(views.map(\.positions) == [[], []])
        queue.drain()
        #expect(views.map(\.positions) == [[1], [2]])
        #expect(views.map(\.stepCounts) == [[1], [2]])
        queue.drain()
        #expect(views.map(\.positions) == [[1], [2]])
    }

    @MainActor @Test("Every view has its last update before any of them ends")
    func endsComeLast() {
        let queue = DeliveryQueue()
        let views = [Received(), Received()]
        let endedEarly = Mutex(false)
        let pendingUpdates = views.map { view in
            PendingUpdate<Numbers>(
                onMainActor: { update in
                    if views.contains(where: { $0.ends.withLock { $0 > 0 } }) { endedEarly.withLock { $0 = true } }
                    view.updates.withLock { $0.append(update) }
                },
                onEnd: { view.ends.withLock { $0 += 1 } })
        }
        queue.post(pendingUpdates.map { Self.delivery(Self.step(0, at: 1), to: $0) })
        queue.post(pendingUpdates.map { ended in Delivery(pendingUpdate: ended) { ended.end() } })
        queue.drain()
        #expect(views.map(\.positions) == [[1], [1]])
        #expect(views.map { $0.ends.withLock { $0 } } == [1, 1])
        #expect(!endedEarly.withLock { $0 })
        queue.post([Self.delivery(Self.step(0, at: 2), to: pendingUpdates[0])])
        queue.drain()
        #expect(views.map(\.positions) == [[1], [1]])
    }

    /// As when an update makes a program open a view that reads at once.
    @MainActor @Test("A queue that is drained within an update lets nothing be overtaken")
    func drainedWithinUpdate() {
        let queue = DeliveryQueue()
        let second = Received()
        let b = second.viewUpdate()
        let a = PendingUpdate<Numbers>(
            onMainActor: { _ in
                queue.post([Self.delivery(Self.step(0, at: 2), to: b)])
                queue.drain()
            }, onEnd: {})
        queue.post([a, b].map { Self.delivery(Self.step(0, at: 1), to: $0) })
        queue.drain()
        #expect(second.positions == [1, 2])
    }

    @MainActor @Test("A view is handed an update only when it is done with the one before")
    func oneUpdateAtATime() {
        let queue = DeliveryQueue()
        let moments = Mutex<[String]>([])
        let own = Mutex<PendingUpdate<Numbers>?>(nil)
        let first = PendingUpdate<Numbers>(
            onMainActor: { update in
                moments.withLock { $0.append("begins \(update.position)") }
                if update.position == 1, let own = own.withLock({ $0 }) {
                    for position in 2...3 as ClosedRange<Int64> {
                        queue.post([Self.delivery(Self.step(0, at: position), to: own)])
                        queue.drain()
                    }
                    queue.post([Delivery(pendingUpdate: own) { own.end() }])
                    queue.drain()
                }
                moments.withLock { $0.append("is done with \(update.position)") }
            }, onEnd: { moments.withLock { $0.append("ends") } })
        let second = PendingUpdate<Numbers>(
            onMainActor: { update in moments.withLock { $0.append("another gets \(update.position)") } }, onEnd: {})
        own.withLock { $0 = first }
        queue.post([first, second].map { Self.delivery(Self.step(0, at: 1), to: $0) })
        queue.drain()
        #expect(
            moments.withLock { $0 } == [
                "begins 1", "another gets 1", "is done with 1", "begins 2", "is done with 2", "begins 3",
                "is done with 3", "ends",
            ])
        own.withLock { $0 = nil }
    }

    @MainActor @Test("What is posted while the main actor is busy arrives without anybody asking")
    func arrivesByItself() async {
        let queue = DeliveryQueue()
        let view = Received()
        queue.post([Self.delivery(Self.step(0, at: 1), to: view.viewUpdate())])
        while view.positions.isEmpty { await Task.yield() }
        #expect(view.positions == [1])
    }
}
