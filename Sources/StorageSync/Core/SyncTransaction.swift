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
    /// Other documents can be seen than before: pages from the beginning name all of them, and rows that they don't name go.
    package var asksAgain = false
    /// To be applied to the rows that were pulled, in this order. Those behind the record's position are of documents that were asked for.
    package var changes: [RemoteChange] = []
    /// What the changes are to all documents that the remote has.
    package var part = SyncPage.Part.some
    /// Of the writes above, those that the remote has taken and no page will have: they change what it is known to have.
    package var unpulled: Set<Int64> = []
    /// Documents that were changed on both sides, whose pending writes are made on what was pulled from now on: what both have
    /// changed is to be merged, by another write where that is needed. Comes after the changes.
    package var conflicts: [DocumentID] = []
}
