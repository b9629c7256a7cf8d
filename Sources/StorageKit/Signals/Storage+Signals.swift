public import StorageLog

extension Storage {
    /// Counters of this process's work with the store since it was opened; they are always on.
    public var counters: StorageCounters { engine.counters }

    /// Calls `body` when a write that took `threshold` or longer has been answered, with its timing and the main cause.
    ///
    /// ```swift
    /// let observation = storage.observeCommits(longerThan: .milliseconds(100)) { commit in
    ///     print("slow commit: \(commit.duration), \(commit.reason.rawValue)", commit.metadata.correlation ?? "")
    /// }
    /// ```
    ///
    /// `body` runs on the writer's queue, where the next commits wait for it: hand its argument on, and don't call the store.
    /// The parts of a write are measured only while an observer is registered; otherwise a write just reads one number.
    /// Imports, rebuilds and other series of commits aren't reported.
    ///
    /// - Parameters:
    ///   - threshold: The shortest time to report; zero for every write.
    ///   - capture: Called on the writing task before it waits for its turn, to capture what only that task knows, such as its
    ///     span. ``CommitTiming/captured`` holds the result.
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
    ///     print("slow read: \(read.duration), \(read.reason.rawValue)", read.statement ?? "")
    /// }
    /// ```
    ///
    /// Reported are the reads of queries, of `get`, of history, and of the first results of live views. `body` runs on the
    /// thread of the read's connection, so hand its argument on. While an observer is registered, each read also looks at the
    /// counters of its connection's statements.
    ///
    /// - Returns: The registration, which ends when it is cancelled or released.
    public func observeReads(
        longerThan threshold: Duration, _ body: @escaping @Sendable (ReadTiming) -> Void
    ) -> StorageObservation {
        engine.observeReads(longerThan: threshold, body)
    }
}
