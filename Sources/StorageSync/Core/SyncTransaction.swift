/// What is saved atomically.
package struct SyncTransaction: Sendable, Equatable {
    package var record: SyncRecord
    /// New states of outbox rows.
    package var writes: [PendingWrite] = []
    /// Outbox rows to remove, by position; may include some of those above that are confirmed and no longer kept.
    package var removed: [Int64] = []
    /// The remote has lost everything after this position, so rows pulled from there are removed. Applied before the
    /// changes. Bases of all outbox rows, including concurrent writes, become at most this position.
    package var rewind: Int64?
    /// The visible documents have changed: pages from the beginning list all of them, and rows that they don't list are
    /// removed.
    package var restartsPull = false
    /// Changes to apply to the pulled rows, in this order. Those after the record's position are documents that were
    /// requested by id.
    package var changes: [RemoteChange] = []
    /// Documents of the remote that can't be written as JSON: only the reasons are saved. Applied after the changes.
    package var unreadable: [DocumentID: String] = [:]
    /// How the changes relate to the full set of documents at the remote.
    package var part = SyncPage.Part.some
    /// Accepted writes among those above that no page will contain: they update what the remote is known to have.
    package var unpulled: Set<Int64> = []
    /// Documents that both sides have changed, whose pending writes are now based on what was pulled: the changes of
    /// both are to be merged, by another write if needed. Applied after the changes.
    package var conflicts: [DocumentID] = []
}
