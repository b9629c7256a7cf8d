internal import Synchronization

/// Delivers updates to their consumers: those of views on the main actor, all views of a store at one position.
///
/// Invariants:
/// - A step's updates are added, and pending ones removed, under one lock: the main actor sees all of a step or none of
///   it.
/// - A view's pending update is in the queue exactly while it has something to deliver, so the queue is never longer
///   than the number of views.
/// - A task on the main actor is scheduled exactly while the queue isn't empty, unless a caller has drained it earlier.
/// - A view's updates come in order and one at a time, also where the code that an update calls drains the queue.
///
/// Isolation: `Sendable`, its state behind a mutex.
package final class DeliveryQueue: Sendable {
    private let waiting = Mutex<[any QueuedUpdate]>([])
    /// What the call of ``drain()`` under way has taken out; empty where there is none.
    @MainActor private var takenOut: [any QueuedUpdate] = []
    /// How many of these were asked to hand over their updates.
    @MainActor private var askedCount = 0
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
    ///
    /// An update may call it again, by opening a view that reads at once. The inner call continues where the outer one
    /// is, so that what was committed meanwhile overtakes nothing, and leaves the ends to the outer one.
    @MainActor package func drain() {
        let isOutermost = takenOut.isEmpty
        takenOut += waiting.withLock { waiting in
            defer { waiting.removeAll() }
            for pendingUpdate in waiting { pendingUpdate.takeOut() }
            return waiting
        }
        while askedCount < takenOut.count {
            askedCount += 1
            takenOut[askedCount - 1].handOverUpdates()
        }
        guard isOutermost else { return }
        var index = 0
        // An end may take out more, too.
        while index < takenOut.count {
            takenOut[index].handOverEnd()
            index += 1
        }
        takenOut = []
        askedCount = 0
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
    /// Keeps everything pending for the calls that hand it over; what is put in later is pending again.
    @MainActor func takeOut()
    /// Hands to the view the updates that were taken out, in order. Does nothing while the view is being handed one:
    /// the call that does so continues with the others.
    @MainActor func handOverUpdates()
    /// Hands the end to the view if it was taken out.
    @MainActor func handOverEnd()
}
