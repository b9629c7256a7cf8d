internal import StorageCore
internal import StorageLog

// Nodes that couldn't be kept up to date.

extension SubscriptionEngine {
    /// Handles a failure: the node keeps its last value, reports the error, and retries after increasing delays. One
    /// retry is scheduled, however often it fails until then.
    func failed(_ id: Int, _ error: any Error) -> Delivery? {
        guard var slot = slots[id] else { return nil }
        let awaitsRetry = slot.retries.hasFailed && timers[id] != nil
        if !awaitsRetry { comeBack(to: id, after: slot.retries.next()) }
        slots[id] = slot
        return slot.node.fail(StorageError.wrapping(error).forSubscribers)
    }

    func fail(_ ids: [Int], _ error: any Error) {
        if (error as? StorageError)?.code == .closed { return close() }
        deliveryQueue.post(ids.compactMap { failed($0, error) })
    }

    /// Whether a node's last read failed: what it holds may be half read, so it is read again before changes are applied to
    /// it, and before it publishes anything.
    func hasFailed(_ id: Int) -> Bool { slots[id]?.retries.hasFailed ?? false }
}
