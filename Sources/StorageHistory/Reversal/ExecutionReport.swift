package import StorageLog

/// The changes that statements made, or would make, to rows of entities.
package struct ExecutionReport: Sendable {
    package let inserted: Int
    package let updated: Int
    package let deleted: Int
    /// The number of changes in tables without history.
    package let unrecorded: Int
    /// The commit; nil if nothing changed, and for a dry run.
    package let receipt: CommitReceipt?
    /// The row changes that a dry run would have made, the first thousand of them.
    package let plan: [RowDifference]

    package init(
        inserted: Int, updated: Int, deleted: Int, unrecorded: Int = 0, receipt: CommitReceipt?, plan: [RowDifference]
    ) {
        self.inserted = inserted
        self.updated = updated
        self.deleted = deleted
        self.unrecorded = unrecorded
        self.receipt = receipt
        self.plan = plan
    }

    /// The number of rows of entities that change.
    package var count: Int { inserted + updated + deleted }

    /// Whether rows change, but none of an entity.
    package var isUnrecorded: Bool { count == 0 && unrecorded > 0 }
}
