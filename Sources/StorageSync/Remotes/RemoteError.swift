/// Why a remote service hasn't done what it was asked, where it makes a difference for what happens next.
public enum RemoteError: RetryableError, Equatable {
    /// There is no such document. A write of some of its fields is parked.
    case notFound
    /// The remote will never take this write as it is: the write is parked with this reason.
    case rejected(String)
    /// The document isn't in the state that the write was made on. It is fetched, and the write is made on what it is now: sent again,
    /// merged, or parked, as ``ConflictResolution`` and ``SyncPrecondition`` say. Where nobody has changed the document, the
    /// write is parked with this reason.
    case conflict(String)
    /// The remote wants other credentials: nothing is sent until ``CollectionSyncEngine/credentialsChanged()`` is called.
    case unauthorized
    /// The remote can't be reached, or is busy: it is asked again after so long at least.
    case unavailable(retryAfter: Duration? = nil)

    public var retryAfter: Duration? {
        if case .unavailable(let duration) = self { duration } else { nil }
    }

    /// All but ``unavailable(retryAfter:)``.
    public var isRefusal: Bool { if case .unavailable = self { false } else { true } }
}
