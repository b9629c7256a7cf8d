public import StorageLog

/// What a revert did, and the compensating commit.
public struct RevertReport: Sendable, Equatable {
    /// What was changed, and what couldn't be.
    public let outcome: RevertOutcome
    /// The commit that was reverted or redone; nil after a restore.
    public let revertedCommit: Int64?
    /// The compensating commit; nil where nothing was to be done, and for a dry run.
    public let receipt: CommitReceipt?
    /// The row changes that a dry run would have made, the first thousand of them.
    public let plan: [RowDifference]
}
