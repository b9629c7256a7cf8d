internal import Synchronization

/// Delivers updates to their consumers: those of views on the main actor, all views of a store at one position.
///
/// Invariants:
/// - A step's updates are added, and pending ones removed, under one lock: the main actor sees all of a step or none of
///   it.
/// - A view's pending update is in the queue exactly while it has something to deliver, so the queue is never longer
///   than the number of views.
/// - A task on the main actor is scheduled exactly while the queue isn't empty, unless a caller has drained it earlier.
///
/// Isolation: `Sendable`, its state behind a mutex.
package final class DeliveryQueue: Sendable {
    private let waiting = Mutex<[any QueuedUpdate]>([])
    /// Views whose first value is being read in the background.
    @MainActor private var openings: [Int: Task<Void, Never>] = [:]
    @MainActor private var openingCount = 0

    package init() {}

    /// Opens a view in the background.
    @MainActor func open(_ body: @escaping @MainActor () async -> Void) {
        openingCount += 1
        let number = openingCount
        openings[number] = Task { [weak self] in
            await body()
            self?.openings[number] = nil
        }
    }

    /// Waits for the first values of views that have been made.
    @MainActor package func waitForOpenings() async {
        for opening in Array(openings.values) { await opening.value }
    }

    /// Adds the updates of a step. Call it when the step no longer holds a state of the store, because closures may
    /// take long.
    func post(_ deliveries: [Delivery]) {
        for delivery in deliveries where !delivery.pendingUpdate.isForView { _ = delivery.put() }
        let wakes = waiting.withLock { waiting in
            let wasEmpty = waiting.isEmpty
            for delivery in deliveries where delivery.pendingUpdate.isForView && delivery.put() {
                waiting.append(delivery.pendingUpdate)
            }
            return wasEmpty && !waiting.isEmpty
        }
        if wakes { Task { @MainActor in drain() } }
    }

    /// Hands over everything that waits: first all updates, so that every view shows the last state before any ends.
    @MainActor package func drain() {
        let handovers = waiting.withLock { waiting in
            defer { waiting.removeAll() }
            return waiting.map { $0.takeOut() }
        }
        for handover in handovers { handover.update?() }
        for handover in handovers { handover.end?() }
    }
}

/// An update, or the end, on its way from a node to its consumer.
package struct Delivery {
    let pendingUpdate: any QueuedUpdate
    /// Adds it to the pending update, and returns whether that has to be queued.
    let put: () -> Bool
}

/// A consumer's ``PendingUpdate``, whatever its type of update.
package protocol QueuedUpdate: AnyObject, Sendable {
    var isForView: Bool { get }
    /// Removes everything pending, and returns closures that deliver it.
    func takeOut() -> Handover
}

/// Hands an update to a view, or the end, or both.
package struct Handover: Sendable {
    var update: (@MainActor @Sendable () -> Void)?
    var end: (@MainActor @Sendable () -> Void)?
}
