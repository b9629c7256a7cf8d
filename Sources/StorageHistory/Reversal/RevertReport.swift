public import StorageLog

/// The changes of a revert, and the compensating commit.
///
/// ```swift
/// let report = try await storage.revert(77, isDryRun: true)
/// for difference in report.plan { print(difference) }
/// ```
public struct RevertReport: Sendable, Equatable {
    /// What was changed, and what couldn't be.
    public let outcome: RevertOutcome
    /// The commit that was reverted or redone; nil after a restore.
    public let revertedCommit: Int64?
    /// The compensating commit; nil if there was nothing to do, and for a dry run.
    public let receipt: CommitReceipt?
    /// The row changes that a dry run would have made, the first thousand of them.
    public let plan: [RowDifference]
    /// The tables that a restore of every table doesn't restore, because they existed at the point and were dropped since. Their
    /// rows can be read as of the point.
    public internal(set) var droppedTables: [String] = []
}

extension RevertReport: CustomStringConvertible {
    /// The compensating commit and what it did, then the first conflicts, the tables that were dropped since and, of a dry run, the
    /// first changes:
    ///
    /// ```
    /// t:20 compensates t:12: 1 updated, 1 conflict
    ///   posts/42#title: it has changed since (expected "a", found "b")
    /// ```
    public var description: String {
        let commit = receipt?.commit.map { "t:\($0)" } ?? (plan.isEmpty ? "no commit" : "dry run")
        let reverted = revertedCommit.map { " compensates t:\($0)" } ?? ""
        let dropped = droppedTables.map { "\($0): the table was dropped since, and isn't restored" }
        return
            (["\(commit)\(reverted): \(outcome)"] + Self.lines(outcome.conflicts) + Self.lines(dropped)
            + Self.lines(plan))
            .joined(separator: "\n")
    }

    /// The first of a list, and how many others there are.
    private static func lines(_ items: [some CustomStringConvertible]) -> [String] {
        let shown = 10
        return items.prefix(shown).map { "  \($0)" }
            + (items.count > shown ? ["  and \(items.count - shown) more"] : [])
    }
}
