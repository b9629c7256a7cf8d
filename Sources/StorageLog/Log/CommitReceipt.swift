public import Foundation
internal import StorageCore

/// What a write returns: the positions of its changes in the log.
///
/// ```swift
/// let receipt = try await storage.save(user)
/// print(receipt.position, receipt.date.formatted())
/// ```
public struct CommitReceipt: Sendable, Hashable {
    /// The commit's number; nil when nothing changed, so that nothing was written.
    public let commit: Int64?
    /// The position of the commit's first event. For a write that changed nothing, it is the one after ``last``.
    public let first: Int64
    /// The position of the commit's last event. For a write that changed nothing, it is the head that the write saw.
    public let last: Int64
    /// When it was committed, in microseconds since 1970 UTC: exactly what the log holds. See ``date``.
    public let time: Int64
    /// Whether an earlier write with the same idempotency key made this commit, so that this write changed nothing.
    /// Receipts of one commit differ only in this property; compare ``commit`` to find out whether two receipts are of
    /// the same commit.
    public let isDuplicate: Bool

    /// The position after which every read sees the changes.
    public var position: Int64 { last }
    /// The number of events.
    public var eventCount: Int { Int(last - first + 1) }
    /// When it was committed: ``time`` as a date. `.time(receipt.date)` is the point after it.
    public var date: Date { Date(microseconds: time) }

    package init(commit: Int64?, first: Int64, last: Int64, time: Int64, isDuplicate: Bool = false) {
        self.commit = commit
        self.first = first
        self.last = last
        self.time = time
        self.isDuplicate = isDuplicate
    }
}
