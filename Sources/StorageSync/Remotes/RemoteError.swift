/// An error of a remote service that determines what the engine does next.
///
/// ```swift
/// func saveDocument(_ model: Product) async throws {
///     let status = try await client.put(model)
///     if status == 401 { throw RemoteError.unauthorized }
///     if status == 422 { throw RemoteError.rejected("the server doesn't accept it") }
/// }
/// ```
public enum RemoteError: RetryableError, Equatable {
    /// The document doesn't exist. An update of it is parked.
    case notFound
    /// The remote will never accept the write as it is: the write is parked with this reason.
    case rejected(String)
    /// The document isn't in the state that the write was based on. It is fetched and the write rebased onto it: sent
    /// again, merged, or parked, as ``ConflictResolution`` and ``SyncPrecondition`` say. If the document hasn't
    /// changed, the write is parked with this reason.
    case conflict(String)
    /// The remote requires other credentials: nothing is sent until ``CollectionSyncEngine/credentialsChanged()`` is
    /// called.
    case unauthorized
    /// The remote can't be reached, or is busy: it is retried after this delay at the earliest.
    case unavailable(retryAfter: Duration? = nil)

    /// The delay of ``unavailable(retryAfter:)``; nil for all others.
    public var retryAfter: Duration? {
        if case .unavailable(let duration) = self { duration } else { nil }
    }

    /// True for all but ``unavailable(retryAfter:)``.
    public var isRefusal: Bool { if case .unavailable = self { false } else { true } }
}
