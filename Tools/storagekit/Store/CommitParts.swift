import StorageKit

/// The parts of a commit that a scan has read, if they are few.
struct CommitParts {
    /// Of a commit in more segments nothing is kept, because it may be larger than memory.
    private static let limit = 2

    /// Whether all parts are kept.
    private(set) var isComplete = true
    private var parts: [(batch: EventBatch, part: CommitPart)] = []

    mutating func add(_ part: CommitPart, of batch: EventBatch) {
        isComplete = isComplete && parts.count < Self.limit
        if isComplete { parts.append((batch, part)) } else { parts = [] }
    }

    /// Calls `body` with the matching events, oldest first.
    func forEachEvent(_ body: (EventBatch, Int, CommitInfo) throws -> Void) rethrows {
        for (batch, part) in parts.sorted(by: { $0.batch.header.first < $1.batch.header.first }) {
            for index in part.matching.sorted() { try body(batch, index, part.info) }
        }
    }
}
