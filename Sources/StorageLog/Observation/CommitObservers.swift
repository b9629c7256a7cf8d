internal import Synchronization

/// The observers of a store's commits. Without observers, they cost a writer one read of a number.
///
/// A process reports its own commits by ``notify(_:)`` and ``ring()``. If the store is open for reading only, a ``CommitWatcher``
/// rings for the commits of others; it runs while there are bells.
///
/// Isolation: `Sendable`, its state behind a mutex; observers are called on the writer's queue and must be quick.
package final class CommitObservers: Sendable {
    private struct Observer {
        let receive: @Sendable (CommittedEvents) -> Void
        let closed: @Sendable () -> Void
    }

    private let observers = Mutex<[Int: Observer]>([:])
    private let count = Atomic(0)
    private let next = Atomic(0)
    /// The columns whose values observers want of updated rows besides the events.
    package let requestedColumns = RequestedColumns()
    private let bells = Mutex(Bells())
    /// Rings for the commits of another process; nil if the store's writer rings by itself.
    let watch: CommitWatcher?

    private struct Bells {
        var ringing: [Int: Bell] = [:]
        /// Called only when the store is closed.
        var ends: [Int: @Sendable () -> Void] = [:]
        var isClosed = false
    }

    private struct Bell {
        let ring: @Sendable () -> Void
        let end: @Sendable () -> Void
    }

    init(watch: CommitWatcher? = nil) { self.watch = watch }

    deinit { watch?.end() }

    /// Whether there are no observers of changed rows.
    package var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

    /// Calls `observer` after every transaction that has events until the observation is cancelled or released.
    ///
    /// - Parameter closed: Called when the store is closed.
    package func add(
        closed: @escaping @Sendable () -> Void = {}, _ observer: @escaping @Sendable (CommittedEvents) -> Void
    ) -> StorageObservation {
        let token = next.add(1, ordering: .relaxed).newValue
        observers.withLock { $0[token] = Observer(receive: observer, closed: closed) }
        count.add(1, ordering: .releasing)
        return StorageObservation { [weak self] in self?.remove(token) }
    }

    private func remove(_ token: Int) {
        if observers.withLock({ $0.removeValue(forKey: token) }) != nil { count.subtract(1, ordering: .releasing) }
    }

    func notify(_ events: CommittedEvents) {
        for observer in observers.withLock({ Array($0.values) }) { observer.receive(events) }
    }
}

// MARK: Bells

extension CommitObservers {
    /// Returns a stream that yields after transactions until it is released, and finishes when the store is closed. Rings that
    /// weren't consumed yet are merged into one.
    func bell() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let token = next.add(1, ordering: .relaxed).newValue
        continuation.onTermination = { [weak self] _ in self?.removeBell(token) }
        addBell(token, Bell(ring: { continuation.yield() }, end: { continuation.finish() }))
        return stream
    }

    /// Calls `body` after transactions until the observation is cancelled or released, and a last time when the store is closed.
    func onCommit(_ body: @escaping @Sendable () -> Void) -> StorageObservation {
        let token = next.add(1, ordering: .relaxed).newValue
        addBell(token, Bell(ring: body, end: body))
        return StorageObservation { [weak self] in self?.removeBell(token) }
    }

    /// Calls `body` when the store is closed, immediately if it already is, until the observation is cancelled or released.
    func onClose(_ body: @escaping @Sendable () -> Void) -> StorageObservation {
        let token = next.add(1, ordering: .relaxed).newValue
        let isClosed = bells.withLock { bells in
            if !bells.isClosed { bells.ends[token] = body }
            return bells.isClosed
        }
        if isClosed { body() }
        return StorageObservation { [weak self] in _ = self?.bells.withLock { $0.ends.removeValue(forKey: token) } }
    }

    private func addBell(_ token: Int, _ bell: Bell) {
        let isClosed = bells.withLock { bells in
            if !bells.isClosed { bells.ringing[token] = bell }
            return bells.isClosed
        }
        if isClosed { bell.end() } else { watch?.begin(for: self) }
    }

    private func removeBell(_ token: Int) {
        let wasLast = bells.withLock { $0.ringing.removeValue(forKey: token) != nil && $0.ringing.isEmpty }
        if wasLast { watch?.disturb() }
    }

    func ring() {
        // Outside of the lock, because a body may remove its own bell.
        for bell in bells.withLock({ $0.ringing }).values { bell.ring() }
    }

    func close() {
        let (ringing, ends) = bells.withLock { bells in
            bells.isClosed = true
            defer { (bells.ringing, bells.ends) = ([:], [:]) }
            return (bells.ringing, bells.ends)
        }
        watch?.end()
        for bell in ringing.values { bell.end() }
        for end in ends.values { end() }
        for observer in observers.withLock({ Array($0.values) }) { observer.closed() }
    }

    /// The number of registered bells.
    package var bellCount: Int { bells.withLock { $0.ringing.count } }
}
