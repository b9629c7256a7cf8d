internal import GRDB
internal import StorageCore

/// The commits that are waiting for the writer, in order.
struct CommitQueue {
    /// A commit that is waiting for its turn.
    struct Job: Sendable {
        let metadata: CommitMetadata
        let time: Int64?
        let body: @Sendable (LogWriter, GRDB.Database) throws -> Void
        let finish: @Sendable (Result<CommitReceipt, any Error>) -> Void
        let isCancelled: @Sendable () -> Bool
        let called = ContinuousClock.now
        /// The values that observers of durations have captured on the calling task.
        var captured: [Int: any Sendable] = [:]
    }

    private var jobs: [Job] = []
    /// Whether the queue is being processed on the writer.
    private var isDraining = false

    var isEmpty: Bool { jobs.isEmpty }
    var count: Int { jobs.count }

    /// Appends a job.
    ///
    /// - Returns: Whether the caller has to start processing the queue; nil if the queue is full.
    mutating func append(_ job: Job, limit: Int?) -> Bool? {
        if let limit, jobs.count >= limit { return nil }
        jobs.append(job)
        defer { isDraining = true }
        return !isDraining
    }

    /// Removes and returns the jobs that may share the next transaction; nil if there are none, which ends the processing.
    mutating func take(atMost count: Int) -> [Job]? {
        guard !jobs.isEmpty else {
            isDraining = false
            return nil
        }
        let taken = Array(jobs.prefix(count))
        jobs.removeFirst(taken.count)
        return taken
    }

    /// Reinserts jobs at the front that didn't fit the transaction.
    mutating func putBack(_ rest: ArraySlice<Job>) { jobs.insert(contentsOf: rest, at: 0) }
}
