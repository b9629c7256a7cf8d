import Synchronization

/// Notes when views show what they are to show.
final class LiveArrivals: Sendable {
    private struct State {
        var awaited: [LiveSign?]
        var missing = 0
        var last: ContinuousClock.Instant?
        var waiting: CheckedContinuation<Void, Never>?
        var count = 0
    }

    private let state: Mutex<State>

    init(views: Int) { state = Mutex(State(awaited: Array(repeating: nil, count: views))) }

    /// How many values were delivered.
    var count: Int { state.withLock { $0.count } }

    func expect(_ sign: LiveSign, of audience: LiveCommit.Audience) {
        state.withLock { state in
            state.last = nil
            switch audience {
            case .nobody: break
            case .view(let view):
                state.awaited[view] = sign
                state.missing = 1
            case .everybody:
                for view in state.awaited.indices { state.awaited[view] = sign }
                state.missing = state.awaited.count
            }
        }
    }

    /// Takes the news of a view.
    ///
    /// - Parameter shows: Whether the value shows a sign.
    func record(_ view: Int, _ shows: (LiveSign) -> Bool) {
        let waiting = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.count += 1
            guard let sign = state.awaited[view], shows(sign) else { return nil }
            state.awaited[view] = nil
            state.missing -= 1
            guard state.missing == 0 else { return nil }
            state.last = .now
            return state.waiting.take()
        }
        waiting?.resume()
    }

    /// Waits for everybody who is expected.
    ///
    /// - Returns: When the last of them showed it; nil where nobody was to.
    /// - Throws: Where somebody doesn't show it before ``giveUp()`` is called.
    func last() async throws -> ContinuousClock.Instant? {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.missing > 0 { state.waiting = continuation }
                return state.missing == 0
            }
            if isThere { continuation.resume() }
        }
        return try state.withLock { state in
            guard state.missing == 0 else { throw BenchmarkError("\(state.missing) views don't show a commit.") }
            return state.last
        }
    }

    /// Ends the waiting.
    func giveUp() { state.withLock { $0.waiting.take() }?.resume() }
}
