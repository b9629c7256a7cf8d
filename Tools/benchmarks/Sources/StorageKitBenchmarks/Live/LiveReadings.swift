import StorageKit
import Synchronization

/// What the readers of a server's lists have put together from differences, and each state on the way.
///
/// Isolation: `Sendable`; each reader's rows are behind a lock of their own.
final class LiveReadings: Sendable {
    typealias Order = LiveServer.Order

    private struct Reading {
        var rows: [Order]?
        var differenceCount = 0
        /// The position of each state, and a hash of its rows: they would take much more memory than the lists do.
        var states: [(position: Int64, hash: Int)] = []
    }

    private final class Slot: Sendable {
        let reading = Mutex(Reading())
    }

    private let slots: [Slot]
    private let opened = Atomic(0)

    init(_ count: Int) { slots = (0..<count).map { _ in Slot() } }

    func apply(_ difference: ListDifference<Order>, to query: Int) {
        slots[query].reading.withLock { reading in
            var rows = reading.rows ?? []
            if reading.rows == nil {
                opened.add(1, ordering: .relaxed)
            } else {
                reading.differenceCount += 1
            }
            reading.rows = nil
            difference.apply(to: &rows)
            reading.states.append((difference.position, rows.hashValue))
            reading.rows = rows
        }
    }

    var openCount: Int { opened.load(ordering: .relaxed) }
    var differenceCount: Int { slots.reduce(0) { $0 + $1.reading.withLock { $0.differenceCount } } }
    func rows(_ query: Int) -> [Order]? { slots[query].reading.withLock { $0.rows } }

    /// How many states weren't what a program makes of the same orders at that position.
    ///
    /// - Parameters:
    ///   - commits: In their order.
    ///   - orders: The orders of each user before them, by their ids.
    func wrongStates(
        of commits: [(position: Int64, order: Order)], startingFrom orders: inout [Int: [Int: Order]]
    ) -> Int {
        let kinds = LiveServer.queriesOfAUser
        func expect(_ user: Int) -> [Int] {
            (0..<kinds).map { LiveServer.expected(orders[user, default: [:]].values, $0).hashValue }
        }
        // What each query must show from which position on.
        var expected = (0..<slots.count / kinds).flatMap { user in
            expect(user).map { [(position: Int64(0), hash: $0)] }
        }
        for (position, order) in commits {
            orders[order.userId, default: [:]][order.id] = order
            for (kind, hash) in expect(order.userId).enumerated() {
                expected[order.userId * kinds + kind].append((position, hash))
            }
        }
        return slots.indices.reduce(0) { wrong, query in
            wrong
                + slots[query].reading.withLock { reading in
                    reading.states.count { state in
                        expected[query].last { $0.position <= state.position }?.hash != state.hash
                    }
                }
        }
    }
}
