import Synchronization

/// Where a request waits until it is let through.
final class Gate: Sendable {
    private struct State {
        var isReached = false
        var isOpen = false
    }

    private let state = Mutex(State())

    var isReached: Bool { state.withLock { $0.isReached } }
    func open() { state.withLock { $0.isOpen = true } }

    /// Waits, also where the task is cancelled.
    func pass() async {
        state.withLock { $0.isReached = true }
        while !state.withLock({ $0.isOpen }) { await Task { try? await Task.sleep(for: .milliseconds(1)) }.value }
    }
}
