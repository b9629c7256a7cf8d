internal import GRDB
internal import StorageCore

/// The commits that are waiting for the writer, in order.
struct CommitQueue {
    /// A commit that is waiting for its turn.
    struct Job: Sendable {
        let metadata: CommitMetadata
        let time: Int64?
        let body: @Sendable (LogWriter, GRDB.Database) throws -> Void
        let afterwards: (@Sendable (LogWriter, GRDB.Database, CommitReceipt) throws -> Void)?
        let finish: @Sendable (Result<CommitReceipt, any Error>) -> Void
        let isCancelled: @Sendable () -> Bool
        let called = ContinuousClock.now
        /// The values that observers of durations have captured on the calling task.
        var captured: [Int: any Sendable] = [:]
    }

    private var jobs: [Job] = []
    /// Whether a block that takes the next jobs is on its way to the writer, or runs there.
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

    /// Removes and returns the jobs that may share the next transaction.
    mutating func take(atMost count: Int) -> [Job] {
        let taken = Array(jobs.prefix(count))
        jobs.removeFirst(taken.count)
        return taken
    }

    /// Ends a transaction.
    ///
    /// - Parameter rest: The jobs that didn't fit, which become the first of the next.
    /// - Returns: Whether jobs are waiting, so that the caller has to go on. If not, the next job starts the processing again.
    mutating func endGroup(returning rest: ArraySlice<Job>) -> Bool {
        jobs.insert(contentsOf: rest, at: 0)
        isDraining = !jobs.isEmpty
        return isDraining
    }
}
