/// What is saved together or not at all.
package struct SyncTransaction: Sendable, Equatable {
    package var record: SyncRecord
    /// Rows of the outbox as they are from now on.
    package var writes: [PendingWrite] = []
    /// Rows of the outbox that go, by position; also some of those above, which are confirmed and aren't kept.
    package var removed: [Int64] = []
    /// The remote has lost what lay behind this position; so do the rows that were pulled. Comes before the changes. The bases
    /// of all rows of the outbox, also of those that were written meanwhile, are this position at the most.
    package var rewind: Int64?
    /// To be applied to the rows that were pulled, in this order.
    package var changes: [RemoteChange] = []
    /// Whether rows that the changes don't name go, where nothing of them is pending.
    package var isComplete = false
    /// Documents that were changed on both sides, whose pending writes are made on what was pulled from now on: what both have
    /// changed is to be merged, by another write where that is needed. Comes after the changes.
    package var conflicts: [DocumentID] = []
}
