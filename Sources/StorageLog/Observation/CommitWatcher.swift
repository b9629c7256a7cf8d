internal import Foundation
internal import Synchronization

/// Looks whether another process has committed, and rings the bells of this one. It has a thread of its own, which is there
/// for as long as somebody holds a bell.
///
/// The thread notes how often the writer has rung, looks at the log, and sleeps unless the writer has rung since. So nothing is
/// lost between looking and sleeping, and many commits that come quickly are one look. Should the writer have ended
/// between a commit and its ring, a slow heartbeat finds it. Where there is no bell, or one that was found silent about
/// a commit, it looks all the time.
///
/// Isolation: `Sendable`, its state behind a mutex; what the thread alone needs is local to it.
final class CommitWatcher: Sendable {
    private let store: String
    private let heartbeat: Duration
    /// How often it looks where no bell can be relied on.
    private static let pollingInterval: Duration = .milliseconds(20)
    /// Called on the thread between looking and sleeping, for the tests.
    private let beforeSleep: @Sendable () -> Void
    private let state = Mutex(State())

    private struct State {
        var isRunning = false
        var isEnded = false
        /// What the thread sleeps on.
        var bell: Doorbell?
    }

    init(store: String, heartbeat: Duration, beforeSleep: @escaping @Sendable () -> Void = {}) {
        self.store = store
        self.heartbeat = heartbeat
        self.beforeSleep = beforeSleep
    }

    /// Starts the thread if it isn't there. The bell must have been entered with the observers before.
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

    /// Lets the thread see that somebody has left.
    func disturb() { state.withLock { $0.bell }?.disturb() }

    /// Ends the thread, soon and for ever.
    func end() {
        state.withLock { $0.isEnded = true }
        disturb()
    }

    /// Returns once the thread is gone, with the files that it had open.
    func hasEnded() async {
        while state.withLock({ $0.isRunning }) {
            // Again, because the thread may have been just about to sleep.
            disturb()
            // A cancelled task doesn't sleep; it asks again at once.
            try? await Task.sleep(for: .milliseconds(1))
        }
    }

    /// Whether there is a thread.
    var isRunning: Bool { state.withLock { $0.isRunning } }
}

// MARK: The thread

extension CommitWatcher {
    private func run(_ observers: () -> CommitObservers?) {
        listen(observers)
        // After all that it had open is closed. Whoever came meanwhile gets another thread.
        let next = state.withLock { state in
            state.isRunning = false
            return state.isEnded ? nil : observers()
        }
        if let next, next.bellCount > 0 { begin(for: next) }
    }

    private func listen(_ observers: () -> CommitObservers?) {
        // Without a connection of its own it can't tell, and rings whenever it would look.
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

    /// Rings if there are commits. The observers are held no longer than this takes, so that letting go of the store ends the thread.
    ///
    /// - Returns: Whether there were commits; nil where no observer is left.
    private func look(_ poller: HeadPoller?, _ observers: () -> CommitObservers?) -> Bool? {
        guard let observers = observers(), observers.bellCount > 0, !state.withLock({ $0.isEnded }) else { return nil }
        let hasMoved = (try? poller?.hasMoved()) ?? true
        if hasMoved { observers.ring() }
        return hasMoved
    }
}
