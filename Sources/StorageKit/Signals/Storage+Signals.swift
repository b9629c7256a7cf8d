public import StorageLog

extension Storage {
    /// What this process has done with the store since it was opened: plain numbers, which are always counted.
    public var counters: StorageCounters { engine.counters }

    /// Calls `body` behind the answer of each write that took `threshold` or longer, with what it took so long for.
    ///
    /// ```swift
    /// let observation = storage.observeCommits(longerThan: .milliseconds(100)) { commit in
    ///     print("slow commit: \(commit.duration), \(commit.reason)", commit.metadata.correlation ?? "")
    /// }
    /// ```
    ///
    /// `body` runs on the writer's queue, where the next commits wait for it: pass on what it gets, and don't call the store. The parts of
    /// a write are measured while an observer is registered. Without one, a write looks at one number.
    /// Imports, rebuilds and other series of commits aren't reported.
    ///
    /// - Parameters:
    ///   - threshold: Zero for every write.
    ///   - capture: Called on the task that writes, before it waits for its turn. ``CommitTiming/captured`` is what it returns: what
    ///     only that task knows, such as its span.
    /// - Returns: What ends it once it is cancelled or let go of.
    public func observeCommits(
        longerThan threshold: Duration = .zero, capture: (@Sendable () -> (any Sendable)?)? = nil,
        _ body: @escaping @Sendable (CommitTiming) -> Void
    ) -> StorageObservation {
        engine.observeCommits(longerThan: threshold, capture: capture, body)
    }

    /// Calls `body` at the end of each read that took `threshold` or longer, with what it took so long for.
    ///
    /// ```swift
    /// let observation = storage.observeReads(longerThan: .milliseconds(100)) { read in
    ///     print("slow read: \(read.duration), \(read.reason)", read.statement ?? "")
    /// }
    /// ```
    ///
    /// Reads are those of queries, of `get`, of history and of the first results of live views. `body` runs on the thread of the read's
    /// connection: pass on what it gets. While an observer is registered, each read also looks at the counters of its connection's
    /// statements.
    ///
    /// - Returns: What ends it once it is cancelled or let go of.
    public func observeReads(
        longerThan threshold: Duration, _ body: @escaping @Sendable (ReadTiming) -> Void
    ) -> StorageObservation {
        engine.observeReads(longerThan: threshold, body)
    }
}
