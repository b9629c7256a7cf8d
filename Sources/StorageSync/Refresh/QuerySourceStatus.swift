public import Foundation

/// The stored state of a query source: when it was fetched, what failed, and when it is retried.
///
/// ```swift
/// for status in try await storage.querySourceStatuses() where status.failures > 0 {
///     print(status.source, status.lastError ?? "", status.nextRefresh as Any)
/// }
/// ```
public struct QuerySourceStatus: Sendable, Hashable {
    /// The source's name.
    public let source: String
    /// The source's parameter as JSON; empty for a source without one.
    public let parameter: String
    /// The cache policy with which the source was last fetched.
    public var policy = ""
    /// When its rows were last fetched; nil if they never were.
    public var lastRefresh: Date?
    /// When rows were last requested from the remote; nil if they never were.
    public var lastAttempt: Date?
    /// The number of failures since the last success.
    public var failures = 0
    /// The last failure; nil after a success.
    public var lastError: String?
    /// The remote isn't retried automatically before this time.
    public var retryTime: Date?
    /// When the rows become stale; nil if the policy ignores their age.
    public var staleTime: Date?
    /// Whether the remote has refused the source, so that repeating the request is pointless: no request is made
    /// automatically until something changes. See ``PersistenceContainer/credentialsChanged()``.
    public var isRefused = false
    /// The validator of the last complete answer.
    var validator: String?
    /// The query and merge strategy of the validator.
    var query: String?
    /// Whether all rows covered by the validator match the query.
    var isClosed = false
    /// Up to this log position, the store's rows are those covered by the validator.
    var position: Int64 = 0
    /// The identifier of the last refresh in its commits.
    var refresh = ""
    /// The last position whose rows the refresh has seen, and the line of the store's history that it belongs to.
    var end: Int64 = 0
    var line: [UInt8] = []

    init(source: String, parameter: String) {
        self.source = source
        self.parameter = parameter
    }

    /// When the remote is next asked automatically while the source is shown; nil if it won't be, for example after a
    /// refusal.
    public var nextRefresh: Date? {
        guard !isRefused else { return nil }
        guard let retryTime else { return staleTime }
        return staleTime.map { max($0, retryTime) } ?? retryTime
    }
}
