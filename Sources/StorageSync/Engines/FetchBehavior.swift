/// Where a document comes from that is asked for.
public enum FetchBehavior: Sendable {
    /// From the store; from the remote where the store doesn't have it.
    case cachedOrFetch
    /// From the remote. What the store has stays as it is.
    case alwaysFetch
}
