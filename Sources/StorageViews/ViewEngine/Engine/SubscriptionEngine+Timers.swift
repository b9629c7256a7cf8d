// Nodes that the engine comes back to by itself: one that has failed, to read it again, and one that has put something
// off, to finish it. A node has one timer at most, so one that fails for days, while commits reach it, costs no more
// than its retries.

extension SubscriptionEngine {
    /// Sets the timer of a node, in place of one that is set already.
    func comeBack(to id: Int, after seconds: Double) {
        cancelTimer(of: id)
        timers[id] = Task {
            // Only a cancellation ends it early.
            try? await Task.sleep(for: .seconds(seconds))
            if !Task.isCancelled { comeBack(to: id) }
        }
    }

    func cancelTimer(of id: Int) { timers.removeValue(forKey: id)?.cancel() }

    private func comeBack(to id: Int) {
        timers[id] = nil
        do {
            try step { snapshot in
                // What was committed meanwhile comes first: the node may have been read again for that, have failed
                // again, or be finished.
                guard timers[id] == nil, let node = slots[id]?.node else { return [] }
                if hasFailed(id) { return [reload(id, snapshot)] }
                return node.postponedSeconds == nil ? [] : [finishStep(id, snapshot)]
            }
        } catch {
            fail([id], error)
        }
    }

    /// The nodes that have put something off, in their order.
    var postponed: [Int] { timers.keys.filter { !hasFailed($0) }.sorted() }
}
