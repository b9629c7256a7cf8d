internal import Synchronization

extension StorageEngine {
    /// What this process has done with the store since it was opened.
    package var counters: StorageCounters {
        var counters = signals.counters.withLock { $0 }
        let (work, waiting) = state.withLock { ($0.sealing, $0.queue.count) }
        counters.sealedRuns = work.runs
        counters.longestSealing = work.longestHold
        counters.waitingCommits = waiting
        return counters
    }

    /// Calls `body` behind the answer of each write that took `threshold` or longer, on the writer's queue: it must be quick.
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
