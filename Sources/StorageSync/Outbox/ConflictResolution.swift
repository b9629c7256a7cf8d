/// How an engine handles a document that was changed both here and at the remote.
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
/// A document that was deleted on either side isn't merged: the deletion wins. Conflicts are detected as reliably as
/// described for ``SyncPrecondition``: a remote service is asked for the document before each write.
public enum ConflictResolution<T: DataSyncModelProtocol>: Sendable {
    /// If two writers change a field, the one whose write reaches the remote later wins; fields that only one has
    /// changed are kept.
    case lastWriterWins
    /// The write is parked until you call ``CollectionSyncEngine/retry(_:)``, which rebases it onto the remote's state,
    /// or ``CollectionSyncEngine/discard(_:)``.
    case park
    /// Merges with the closure, whose result is stored and sent. If it throws or returns nil, the write is parked.
    ///
    /// The closure runs inside a transaction of the store, possibly more than once, so it must not have side effects.
    /// `base` is the remote's document before both changes, or nil if both sides have created it; `mine` is the local
    /// one, `theirs` the remote's.
    case merge(@Sendable (_ base: T?, _ mine: T, _ theirs: T) throws -> T?)

    /// Whether writes are accepted only if no other writer has changed the document.
    var isConditional: Bool { if case .lastWriterWins = self { false } else { true } }
    var merges: Bool { if case .merge = self { true } else { false } }
}
