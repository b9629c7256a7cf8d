internal import Synchronization

/// Brings updates to their consumers: those of views to the main actor, all views of a store at one position.
///
/// Invariants:
/// - What a step has brought is put in, and what waits is taken out, under one lock: the main actor sees all of a step
///   or nothing of it.
/// - A pending update of a view is in the queue exactly while it has something to be taken, so the queue is never longer than
///   there are views.
/// - A task on the main actor is on its way exactly while the queue isn't empty, unless somebody has drained it earlier.
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

    /// Puts in what a step has brought. To be called when it holds no state of the store any more, as what closures do
    /// may take long.
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
    /// Puts it into the pending update, and returns whether that is to be queued.
    let put: () -> Bool
}

/// The ``PendingUpdate`` of a consumer, whatever it is an update of.
package protocol QueuedUpdate: AnyObject, Sendable {
    var isForView: Bool { get }
    /// What hands over all that is pending.
    func takeOut() -> Handover
}

/// Hands an update to a view, or the end, or both.
package struct Handover: Sendable {
    var update: (@MainActor @Sendable () -> Void)?
    var end: (@MainActor @Sendable () -> Void)?
}
