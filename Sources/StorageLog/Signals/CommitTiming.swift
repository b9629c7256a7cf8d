/// How long one write took, and where the time went.
///
/// ```swift
/// let observation = storage.observeCommits(longerThan: .milliseconds(100)) { commit in
///     print(commit.eventCount, commit.duration, "of it on disk:", commit.disk)
/// }
/// ```
///
/// The parts ``queue``, ``lock``, ``group``, ``body``, ``projections`` and ``disk`` add up to ``duration``, except for
/// some microseconds.
public struct CommitTiming: Sendable {
    /// What a write spent most of its time on.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// Earlier writes held the writer: a long write of another task, an import, a rebuild's last step.
        case queue
        /// Another connection held SQLite's lock of the file.
        case lock
        /// Other commits of the same transaction, which share its wait for the disk.
        case group
        /// The write's own body.
        case body
        /// Full-text indexes and inline projections, which follow within the commit.
        case projections
        /// Appending to the write-ahead log and flushing it.
        case disk
        /// Copying the write-ahead log into the file, which a commit does when it has grown.
        case checkpoint
    }

    /// Who made the commit, with its correlation id.
    public let metadata: CommitMetadata
    /// The receipt, or the error if nothing was committed.
    public let result: Result<CommitReceipt, any Error>
    /// When the write was called, in microseconds since 1970 UTC by the system's clock.
    public let startMicroseconds: Int64
    /// The time from the call of the write to its return.
    public let duration: Duration
    /// The time that the write waited for the writer.
    public internal(set) var queue = Duration.zero
    /// The time that the write waited for SQLite's lock of the file.
    public internal(set) var lock = Duration.zero
    /// The time of the other commits of its transaction.
    public internal(set) var group = Duration.zero
    /// The time of the write's body, in the run that was committed.
    public internal(set) var body = Duration.zero
    /// Full-text indexes and inline projections.
    public internal(set) var projections = Duration.zero
    /// The time of COMMIT: appending to the write-ahead log, flushing it, and ``checkpoint``.
    public internal(set) var disk = Duration.zero
    /// Copying the write-ahead log into the file, as a part of ``disk``.
    public internal(set) var checkpoint = Duration.zero
    /// How many commits shared the transaction.
    public internal(set) var groupSize = 1
    /// What the observer's `capture` returned on the task that called the write.
    public internal(set) var captured: (any Sendable)?

    init(
        metadata: CommitMetadata, result: Result<CommitReceipt, any Error>, startMicroseconds: Int64, duration: Duration
    ) {
        self.metadata = metadata
        self.result = result
        self.startMicroseconds = startMicroseconds
        self.duration = duration
    }

    /// How many events were committed.
    public var eventCount: Int { (try? result.get())?.eventCount ?? 0 }

    /// What it spent most of its time on.
    public var reason: Reason {
        let parts: [(Reason, Duration)] = [
            (.queue, queue), (.lock, lock), (.group, group), (.body, body), (.projections, projections),
            (.disk, disk - checkpoint), (.checkpoint, checkpoint),
        ]
        return parts.max { $0.1 < $1.1 }?.0 ?? .body
    }
}

extension CommitTiming: CustomStringConvertible {
    /// The commit, how long it took, and what most of the time was spent on: `t:12 @101..@140: 0.012 seconds, mostly disk`.
    public var description: String {
        let outcome =
            switch result {
            case .success(let receipt): "\(receipt)"
            case .failure(let error): "failed (\(error))"
            }
        return "\(outcome): \(duration), mostly \(reason.rawValue)"
    }
}
