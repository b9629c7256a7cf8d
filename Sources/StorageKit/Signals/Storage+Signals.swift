public import StorageLog

extension Storage {
    /// Counters of this process's work with the store since it was opened; always on.
    public var counters: StorageCounters { engine.counters }

    /// Calls `body` after each write that took `threshold` or longer has been answered, with its timing and the main cause.
    ///
    /// ```swift
    /// let observation = storage.observeCommits(longerThan: .milliseconds(100)) { commit in
    ///     print("slow commit: \(commit.duration), \(commit.reason)", commit.metadata.correlation ?? "")
    /// }
    /// ```
    ///
    /// `body` runs on the writer's queue, where the next commits wait for it: pass on what it gets, and don't call the store. The parts of a write
    /// are measured while an observer is registered. Without one, a write only reads one number. Imports, rebuilds and other series of commits aren't
    /// reported.
    ///
    /// - Parameters:
    ///   - threshold: Zero for every write.
    ///   - capture: Called on the writing task before it waits for its turn, to capture what only that task knows, such as its span.
    ///     ``CommitTiming/captured`` holds what it returns.
    /// - Returns: The registration, which ends when it is cancelled or released.
    public func observeCommits(
        longerThan threshold: Duration = .zero, capture: (@Sendable () -> (any Sendable)?)? = nil,
        _ body: @escaping @Sendable (CommitTiming) -> Void
    ) -> StorageObservation {
        engine.observeCommits(longerThan: threshold, capture: capture, body)
    }

    /// Calls `body` at the end of each read that took `threshold` or longer, with its timing and the main cause.
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
    /// - Returns: The registration, which ends when it is cancelled or released.
    public func observeReads(
        longerThan threshold: Duration, _ body: @escaping @Sendable (ReadTiming) -> Void
    ) -> StorageObservation {
        engine.observeReads(longerThan: threshold, body)
    }
}
