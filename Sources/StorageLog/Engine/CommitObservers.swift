internal import Synchronization

/// Who wants to know of commits. Costs a writer one look at a number while nobody does.
///
/// Isolation: `Sendable`, its state behind a mutex; observers are called on the writer's queue and must be quick.
package final class CommitObservers: Sendable {
    private struct Observer {
        let tell: @Sendable (CommittedEvents) -> Void
        let closed: @Sendable () -> Void
    }

    private let observers = Mutex<[Int: Observer]>([:])
    private let count = Atomic(0)
    private let next = Atomic(0)
    private let bells = Mutex(Bells())

    private struct Bells {
        var ringing: [Int: AsyncStream<Void>.Continuation] = [:]
        var isClosed = false
    }

    package init() {}

    /// Whether nobody wants to know which rows were changed.
    package var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

    /// Calls `observer` after every transaction that has events until the token is given back.
    ///
    /// - Parameter closed: Called when the store is closed.
    package func add(
        closed: @escaping @Sendable () -> Void = {}, _ observer: @escaping @Sendable (CommittedEvents) -> Void
    ) -> Int {
        let token = next.add(1, ordering: .relaxed).newValue
        observers.withLock { $0[token] = Observer(tell: observer, closed: closed) }
        count.add(1, ordering: .releasing)
        return token
    }

    package func remove(_ token: Int) {
        if observers.withLock({ $0.removeValue(forKey: token) }) != nil { count.subtract(1, ordering: .releasing) }
    }

    func tell(_ events: CommittedEvents) {
        for observer in observers.withLock({ Array($0.values) }) { observer.tell(events) }
    }

    // MARK: Bells

    /// Rings after transactions until it is let go of, and ends when the store is closed. Several rings that nobody has heard yet
    /// are one.
    func bell() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let token = next.add(1, ordering: .relaxed).newValue
        continuation.onTermination = { [weak self] _ in
            _ = self?.bells.withLock { $0.ringing.removeValue(forKey: token) }
        }
        let isClosed = bells.withLock { bells in
            if !bells.isClosed { bells.ringing[token] = continuation }
            return bells.isClosed
        }
        if isClosed { continuation.finish() }
        return stream
    }

    func ring() {
        bells.withLock { bells in
            for continuation in bells.ringing.values { continuation.yield() }
        }
    }

    func close() {
        let ringing = bells.withLock { bells in
            bells.isClosed = true
            return Array(bells.ringing.values)
        }
        for continuation in ringing { continuation.finish() }
        for observer in observers.withLock({ Array($0.values) }) { observer.closed() }
    }

    /// How many bells somebody holds.
    package var bellCount: Int { bells.withLock { $0.ringing.count } }
}
