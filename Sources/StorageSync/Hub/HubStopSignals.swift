internal import Synchronization

/// The signals of all feeds of a hub, which it sets when it stops.
///
/// Isolation: `Sendable`, its state behind a mutex.
final class HubStopSignals: Sendable {
    private struct State {
        var signals: [Int: HubSignal] = [:]
        var last = 0
        var isSet = false
    }

    private let state = Mutex(State())

    /// - Returns: A number to remove it by.
    func add(_ signal: HubSignal) -> Int {
        let (number, isSet) = state.withLock { state in
            state.last += 1
            state.signals[state.last] = signal
            return (state.last, state.isSet)
        }
        if isSet { signal.set() }
        return number
    }

    func remove(_ number: Int) { state.withLock { _ = $0.signals.removeValue(forKey: number) } }

    /// Sets all, also those that are added later.
    func set() {
        let signals = state.withLock { state in
            state.isSet = true
            return Array(state.signals.values)
        }
        for signal in signals { signal.set() }
    }
}
