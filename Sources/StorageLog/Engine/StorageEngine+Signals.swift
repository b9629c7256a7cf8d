internal import Synchronization

extension StorageEngine {
    /// The counters of this process since it opened the store.
    package var counters: StorageCounters {
        var counters = signals.counters.withLock { $0 }
        let (work, waiting) = state.withLock { ($0.sealing, $0.queue.count) }
        counters.sealedRuns = work.runs
        counters.failedSealings = work.failures
        counters.longestSealing = work.longestHold
        counters.waitingCommits = waiting
        return counters
    }

    /// Calls `body` after each write that took `threshold` or longer has returned, on the writer's queue: it must be quick.
    ///
    /// - Parameter capture: Called on the task that writes, before it waits; ``CommitTiming/captured`` is what it returns.
    package func observeCommits(
        longerThan threshold: Duration, capture: (@Sendable () -> (any Sendable)?)? = nil,
        _ body: @escaping @Sendable (CommitTiming) -> Void
    ) -> StorageObservation {
        signals.add(EngineSignals.CommitObserver(threshold: threshold, capture: capture, receive: body))
    }

    /// Calls `body` at the end of each read that took `threshold` or longer, on its connection's thread: it must be quick.
    package func observeReads(
        longerThan threshold: Duration, _ body: @escaping @Sendable (ReadTiming) -> Void
    ) -> StorageObservation {
        signals.add(EngineSignals.ReadObserver(threshold: threshold, receive: body))
    }
}
