internal import StorageCore
internal import StorageLog

// Nodes that couldn't be kept up to date, and try again.

extension SubscriptionEngine {
    /// Handles a failure: the node keeps its last value, reports the error, and retries after increasing delays.
    func failed(_ id: Int, _ error: any Error) -> Delivery? {
        guard var slot = slots[id] else { return nil }
        perform(after: slot.retries.next()) { $0.retry(id) }
        slots[id] = slot
        return slot.node.fail(StorageError.wrapping(error).forSubscribers)
    }

    func fail(_ ids: [Int], _ error: any Error) {
        if (error as? StorageError)?.code == .closed { return close() }
        deliveryQueue.post(ids.compactMap { failed($0, error) })
    }

    private func hasFailed(_ id: Int) -> Bool { slots[id]?.retries.hasFailed ?? false }

    private func retry(_ id: Int) {
        do {
            // It may have recovered meanwhile, also by the changes of this step.
            guard hasFailed(id) else { return }
            try step { hasFailed(id) ? [reload(id, $0)] : [] }
        } catch {
            fail([id], error)
        }
    }
}
