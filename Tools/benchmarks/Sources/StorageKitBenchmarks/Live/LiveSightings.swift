import Synchronization

/// What readers of lists report of one commit: when the first of them was notified, when the one whom the commit
/// concerns shows it, and when all were notified that are notified of it.
///
/// Isolation: `Sendable`; its state is behind a lock.
final class LiveSightings: Sendable {
    struct Times {
        var first: ContinuousClock.Instant
        var shown: ContinuousClock.Instant
        var all: ContinuousClock.Instant
    }

    private struct State {
        var isTold: [Bool]
        var missing: Int
        var wanted: (reader: Int, weight: Int)?
        var first: ContinuousClock.Instant?
        var shown: ContinuousClock.Instant?
        var last: ContinuousClock.Instant?
        var waiting: CheckedContinuation<Void, Never>?
        var deliveredCount = 0
        var isGivenUp = false

        var isDone: Bool { isGivenUp || (wanted == nil && missing == 0) }
    }

    private let state: Mutex<State>

    /// Waits for a first value of each reader.
    init(readers: Int) {
        state = Mutex(State(isTold: Array(repeating: false, count: readers), missing: readers))
    }

    /// How many values were delivered.
    var deliveredCount: Int { state.withLock { $0.deliveredCount } }

    /// - Parameter isEveryoneTold: Whether all readers are waited for: where a commit makes each fetch again.
    func expect(weight: Int, of reader: Int, isEveryoneTold: Bool) {
        state.withLock { state in
            (state.first, state.shown, state.last) = (nil, nil, nil)
            state.wanted = (reader, weight)
            state.missing = isEveryoneTold ? state.isTold.count : 0
            for index in state.isTold.indices { state.isTold[index] = false }
        }
    }

    func saw(_ reader: Int, heaviest weight: Int) {
        let waiting = state.withLock { state -> CheckedContinuation<Void, Never>? in
            let now = ContinuousClock.now
            state.deliveredCount += 1
            state.first = state.first ?? now
            if let wanted = state.wanted, wanted.reader == reader, weight >= wanted.weight {
                (state.wanted, state.shown) = (nil, now)
            }
            if !state.isTold[reader], state.missing > 0 {
                state.isTold[reader] = true
                state.missing -= 1
            }
            guard state.isDone, state.last == nil else { return nil }
            state.last = now
            return state.waiting.take()
        }
        waiting?.resume()
    }

    /// Waits for all who are expected.
    ///
    /// - Throws: Where ``giveUp()`` is called before.
    @discardableResult func arrival() async throws -> Times {
        await withCheckedContinuation { reader in
            let isThere = state.withLock { state in
                if !state.isDone { state.waiting = reader }
                return state.isDone
            }
            if isThere { reader.resume() }
        }
        return try state.withLock { state in
            guard let last = state.last, !state.isGivenUp else {
                throw BenchmarkError("\(state.missing) readers of lists weren't notified of a commit.")
            }
            return Times(first: state.first ?? last, shown: state.shown ?? last, all: last)
        }
    }

    /// Ends the waiting.
    func giveUp() {
        let waiting = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.isGivenUp = true
            return state.waiting.take()
        }
        waiting?.resume()
    }
}
