internal import Foundation
internal import Synchronization

/// Watches for commits of other processes, and rings the bells of this one. It has a thread of its own while there are bells.
///
/// The thread notes the bell's count, looks at the log, and sleeps unless the count has changed since. So nothing is lost between
/// looking and sleeping, and many quick commits cause one look. If the writer ended between a commit and its ring, a slow
/// heartbeat finds the commit. Without a bell, or after a commit for which the bell didn't ring, the thread polls.
///
/// Isolation: `Sendable`, its state behind a mutex; what the thread alone needs is local to it.
final class CommitWatcher: Sendable {
    private let store: String
    private let heartbeat: Duration
    /// The interval of looks if no bell can be relied on.
    private static let pollingInterval: Duration = .milliseconds(20)
    /// Called on the thread between looking and sleeping, for the tests.
    private let beforeSleep: @Sendable () -> Void
    private let state = Mutex(State())

    private struct State {
        var isRunning = false
        var isEnded = false
        /// The bell that the thread sleeps on.
        var bell: Doorbell?
    }

    init(store: String, heartbeat: Duration, beforeSleep: @escaping @Sendable () -> Void = {}) {
        self.store = store
        self.heartbeat = heartbeat
        self.beforeSleep = beforeSleep
    }

    /// Starts the thread if it isn't running. The observer's bell must be registered before.
    func begin(for observers: CommitObservers) {
        let starts = state.withLock { state in
            defer { state.isRunning = !state.isEnded }
            return !state.isRunning && !state.isEnded
        }
        guard starts else { return }
        let thread = Thread { [weak observers] in
            self.run { observers }
        }
        thread.name = "storage-watch"
        thread.start()
    }

    /// Wakes the thread after an observer was removed.
    func disturb() { state.withLock { $0.bell }?.disturb() }

    /// Ends the thread, soon and for good.
    func end() {
        state.withLock { $0.isEnded = true }
        disturb()
    }

    /// Returns after the thread has ended and closed its files.
    func hasEnded() async {
        while state.withLock({ $0.isRunning }) {
            // Again, because the thread may have been just about to sleep.
            disturb()
            // A cancelled task doesn't sleep; it checks again at once.
            try? await Task.sleep(for: .milliseconds(1))
        }
    }

    /// Whether the thread is running.
    var isRunning: Bool { state.withLock { $0.isRunning } }
}

// MARK: The thread

extension CommitWatcher {
    private func run(_ observers: () -> CommitObservers?) {
        listen(observers)
        // After it has closed all that it had open. Bells that were added meanwhile get another thread.
        let next = state.withLock { state in
            state.isRunning = false
            return state.isEnded ? nil : observers()
        }
        if let next, next.bellCount > 0 { begin(for: next) }
    }

    private func listen(_ observers: () -> CommitObservers?) {
        // Without a connection of its own it can't detect commits, and rings at every look.
        let poller = try? HeadPoller(store: store)
        var bell = Doorbell.finding(besideStore: store) ?? Doorbell()
        var isDeaf = false
        var last = Doorbell.Wake.rung
        while true {
            state.withLock { $0.bell = bell }
            let count = bell.count
            guard let hasMoved = look(poller, observers) else { break }
            if hasMoved, last == .timedOut { isDeaf = true }
            beforeSleep()
            last = bell.wait(while: count, for: isDeaf || bell.isSilent ? Self.pollingInterval : heartbeat)
            switch last {
            case .rung: if bell.count != count { isDeaf = false }
            case .timedOut: if !bell.isBeside(store: store) { bell = .finding(besideStore: store) ?? Doorbell() }
            case .failed: bell = Doorbell()
            }
        }
        state.withLock { $0.bell = nil }
    }

    /// Rings if there are commits. The observers are retained only during the call, so that releasing the store ends the thread.
    ///
    /// - Returns: Whether there were commits; nil if no observer is left.
    private func look(_ poller: HeadPoller?, _ observers: () -> CommitObservers?) -> Bool? {
        guard let observers = observers(), observers.bellCount > 0, !state.withLock({ $0.isEnded }) else { return nil }
        let hasMoved = (try? poller?.hasMoved()) ?? true
        if hasMoved { observers.ring() }
        return hasMoved
    }
}
