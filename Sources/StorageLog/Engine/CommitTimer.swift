internal import Foundation
internal import StorageCore

/// Measures the commits of one transaction of the queue: how long each took, and where the time went.
struct CommitTimer {
    let start: ContinuousClock.Instant
    /// Whether the parts of each commit are measured, because there are observers.
    let isDetailed: Bool
    var transaction = TransactionTiming()
    private var bodies: [(duration: Duration, projections: Duration)] = []

    init(start: ContinuousClock.Instant, isDetailed: Bool) {
        self.start = start
        self.isDetailed = isDetailed
    }

    /// Runs one commit and measures it.
    mutating func measure<Result>(_ writer: LogWriter, _ body: () throws -> Result) rethrows -> Result {
        guard isDetailed else { return try body() }
        writer.projectionTime = .zero
        let start = ContinuousClock.now
        let result = try body()
        bodies.append((.now - start, writer.projectionTime))
        return result
    }

    /// - Parameter index: The commit's index among the measured ones.
    func commit(
        _ index: Int, _ job: CommitQueue.Job, _ outcome: Result<CommitReceipt, any Error>, end: ContinuousClock.Instant
    ) -> CommitTiming {
        let duration = end - job.called
        var timing = CommitTiming(
            metadata: job.metadata, result: outcome,
            startMicroseconds: SystemClock().microseconds - duration.nanoseconds / 1_000, duration: duration)
        guard bodies.indices.contains(index) else { return timing }
        let own = bodies[index]
        timing.queue = start - job.called
        timing.lock = transaction.lock
        timing.body = own.duration - own.projections
        timing.projections = own.projections
        timing.disk = transaction.disk
        timing.checkpoint = transaction.checkpoint
        timing.groupSize = bodies.count
        // Includes what the transaction does for all of them, such as encoding and appending.
        timing.group = max(
            .zero, end - start - transaction.lock - transaction.disk - own.duration)
        return timing
    }
}
