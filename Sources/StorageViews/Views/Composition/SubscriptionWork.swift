/// How busy a store is with keeping its live views up to date, since it was opened.
///
/// ```swift
/// let before = await storage.subscriptionWork
/// try await storage.save(user)
/// let after = await storage.subscriptionWork
/// print(after.duration - before.duration)
/// ```
///
/// It counts the work beside commits: what reading the store, finding the affected views and bringing them up to
/// date takes. For the main actor's time see ``SubscriptionMetrics``.
public struct SubscriptionWork: Sendable, Hashable {
    /// The number of updates: for commits, several of which may be applied together, and for new views.
    public let steps: Int
    /// How long that took altogether, including waiting for the processor and the database.
    public let duration: Duration
    /// The number of statements that the views ran, including look-ups of columns that an update didn't change.
    public let statements: Int
    /// How many transactions touched tables with live views but affected none of them, so that nothing had to be done.
    /// Where that can't be determined without reading the store, the transaction counts as a step instead.
    public let skippedTransactions: Int

    package init(_ counters: EngineCounters) {
        (steps, duration, skippedTransactions) = (counters.steps, counters.duration, counters.skipped)
        statements = counters.statements + counters.rowReads
    }
}
