/// What this process has done with a store since it opened it: plain numbers that are always counted.
///
/// ```swift
/// let before = storage.counters
/// try await importEverything()
/// print(storage.counters.commits - before.commits)
/// ```
///
/// They begin at zero when the store is opened and never decrease, except ``waitingCommits`` and ``walPages``. For a store that
/// is open for reading only they stay at zero.
public struct StorageCounters: Sendable, Hashable {
    /// The number of commits; writes that changed nothing aren't counted.
    public internal(set) var commits = 0
    /// The number of events of these commits.
    public internal(set) var events = 0
    /// The number of writes that threw, and so changed nothing.
    public internal(set) var failedCommits = 0
    /// The number of SQLite's transactions. Writes of several tasks share them, so ``commits`` divided by this is the
    /// average size of a group.
    public internal(set) var transactions = 0
    /// The most commits that shared one transaction.
    public internal(set) var largestGroup = 0
    /// How long each write took, from its call to its return, including the wait for its turn. Imports and other series
    /// of commits aren't included.
    public internal(set) var commitDurations = DurationHistogram()
    /// How long each transaction's COMMIT took: appending to the write-ahead log, flushing it if durability is full,
    /// and checkpoints.
    public internal(set) var diskDurations = DurationHistogram()
    /// The total time that transactions waited for SQLite's lock of the file.
    public internal(set) var lockWait = Duration.zero
    /// How often a commit has copied the write-ahead log into the file.
    public internal(set) var checkpoints = 0
    /// The total duration of these checkpoints.
    public internal(set) var checkpointDuration = Duration.zero
    /// Pages in the write-ahead log after the last transaction. They remain until they are checkpointed and no reader needs them.
    public internal(set) var walPages = 0
    /// How often a page was found in the writer's cache.
    public internal(set) var pageCacheHits = 0
    /// How often a page wasn't in the writer's cache and had to be read.
    public internal(set) var pageCacheMisses = 0
    /// Runs of segments that were sealed.
    public internal(set) var sealedRuns = 0
    /// The number of failed attempts to seal a run in the background: the log stays as it is, and the next commit tries
    /// again.
    public internal(set) var failedSealings = 0
    /// The longest time for which sealing a run blocked the writer.
    public internal(set) var longestSealing = Duration.zero
    /// The number of writes that wait for their turn now.
    public internal(set) var waitingCommits = 0

    package init() {}
}
