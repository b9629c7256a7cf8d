public import Foundation

/// When a source was fetched, what failed, and when it is retried, as stored beside its rows.
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
    /// The policy under which it was last fetched.
    public var policy = ""
    /// When its rows were last fetched; nil if they never were.
    public var lastRefresh: Date?
    /// When the remote was last asked.
    public var lastAttempt: Date?
    /// The number of failures since.
    public var failures = 0
    /// The last failure; nil after a success.
    public var lastError: String?
    /// The remote isn't retried automatically before this time.
    public var retryTime: Date?
    /// When the rows become stale; nil if the policy ignores their age.
    public var staleTime: Date?
    /// Whether the remote has refused the source, so that repeating the request is pointless: it isn't asked
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

    /// When the remote will be asked automatically, as long as the source is shown; nil if it won't be, as after a
    /// refusal.
    public var nextRefresh: Date? {
        guard !isRefused else { return nil }
        guard let retryTime else { return staleTime }
        return staleTime.map { max($0, retryTime) } ?? retryTime
    }
}
