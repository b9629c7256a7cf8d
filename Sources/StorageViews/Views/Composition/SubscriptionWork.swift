/// The work of a store to keep its live views up to date, since the store was opened.
///
/// ```swift
/// let before = await storage.subscriptionWork
/// try await storage.save(user)
/// let after = await storage.subscriptionWork
/// print(after.duration - before.duration)
/// ```
///
/// It counts the work outside of commits: reading the store, finding the affected views, and updating them. For the
/// main actor's time see ``SubscriptionMetrics``.
public struct SubscriptionWork: Sendable, Hashable {
    /// The number of updates: for commits, several of which may be applied together, and for new views.
    public let steps: Int
    /// The total duration of these updates, including waiting for the processor and the database.
    public let duration: Duration
    /// The number of statements that the views ran, including look-ups of columns that an update didn't change.
    public let statements: Int
    /// The number of transactions that touched tables with live views but affected none of the views, so that there was
    /// nothing to update. If that can't be determined without reading the store, the transaction counts as a step
    /// instead.
    public let skippedTransactions: Int

    package init(_ counters: EngineCounters) {
        (steps, duration, skippedTransactions) = (counters.steps, counters.duration, counters.skipped)
        statements = counters.statements + counters.rowReads
    }
}
