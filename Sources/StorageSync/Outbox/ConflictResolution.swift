/// What an engine does with a document that somebody else has changed at the remote while it was changed here.
///
/// ```swift
/// let countersSyncEngine = CollectionSyncEngine<Counter>(
///     remote: remote, managerKey: "counters",
///     conflictResolution: .merge { base, mine, theirs in
///         var merged = theirs
///         merged.count += mine.count - (base?.count ?? 0)
///         return merged
///     })
/// ```
///
/// A document that was deleted on either side isn't merged: the deletion wins. How sure it is that a conflict is found is the same as for
/// ``SyncPrecondition``: a remote service is asked for the document before each write.
public enum ConflictResolution<T: DataSyncModelProtocol>: Sendable {
    /// Of two who change a field, the one whose write reaches the remote later wins; fields that only one has changed are kept.
    case lastWriterWins
    /// The write is parked: somebody decides between ``CollectionSyncEngine/retry(_:)``, which makes it on what the remote has, and
    /// ``CollectionSyncEngine/discard(_:)``.
    case park
    /// What the closure returns is stored and sent. Where it throws or returns nil, the write is parked.
    ///
    /// It runs inside a transaction of the store, perhaps more than once: let it do nothing but compute. `base` is the document as the
    /// remote had it before both changes, nil where both have made it; `mine` as it was here, `theirs` as the remote has it.
    case merge(@Sendable (_ base: T?, _ mine: T, _ theirs: T) throws -> T?)

    /// Whether a write is to be taken only where nobody else has changed the document.
    var isConditional: Bool { if case .lastWriterWins = self { false } else { true } }
    var merges: Bool { if case .merge = self { true } else { false } }
}
