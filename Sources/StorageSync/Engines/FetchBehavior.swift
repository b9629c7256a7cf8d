/// Where a requested document comes from.
///
/// ```swift
/// let fresh = try await watchlistSyncEngine.getDocumentAsync(id: "1", behavior: .alwaysFetch)
/// ```
public enum FetchBehavior: Sendable {
    /// From the store if it is there, otherwise from the remote.
    case cachedOrFetch
    /// From the remote. The store isn't changed.
    case alwaysFetch
}
