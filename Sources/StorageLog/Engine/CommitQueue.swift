internal import GRDB
internal import StorageCore

/// The commits that wait for the writer, in order.
struct CommitQueue {
    /// One commit that waits for its turn.
    struct Job: Sendable {
        let metadata: CommitMetadata
        let time: Int64?
        let body: @Sendable (LogWriter, GRDB.Database) throws -> Void
        let finish: @Sendable (Result<CommitReceipt, any Error>) -> Void
        let isCancelled: @Sendable () -> Bool
        let called = ContinuousClock.now
        /// What observers of durations have noted of the task that calls.
        var captured: [Int: any Sendable] = [:]
    }

    private var jobs: [Job] = []
    /// Whether somebody is at work on the queue on the writer.
    private var isDraining = false

    var isEmpty: Bool { jobs.isEmpty }
    var count: Int { jobs.count }

    /// Puts a job at the end.
    ///
    /// - Returns: Whether the caller has to see to it that the queue is worked on; nil where there is no room.
    mutating func append(_ job: Job, limit: Int?) -> Bool? {
        if let limit, jobs.count >= limit { return nil }
        jobs.append(job)
        defer { isDraining = true }
        return !isDraining
    }

    /// The jobs that may share the next transaction; nil when there are none, and then nobody is at work any more.
    mutating func take(atMost count: Int) -> [Job]? {
        guard !jobs.isEmpty else {
            isDraining = false
            return nil
        }
        let taken = Array(jobs.prefix(count))
        jobs.removeFirst(taken.count)
        return taken
    }

    /// Puts jobs back to the beginning for which there was no room.
    mutating func putBack(_ rest: ArraySlice<Job>) { jobs.insert(contentsOf: rest, at: 0) }
}
