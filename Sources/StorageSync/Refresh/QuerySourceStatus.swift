public import Foundation

/// When a source was fetched, what went wrong, and when it is asked again, as it is stored beside its rows.
public struct QuerySourceStatus: Sendable, Hashable {
    /// The source's name.
    public let source: String
    /// Its parameter as JSON; empty for a source without.
    public let parameter: String
    /// The policy that it was fetched under last.
    public var policy = ""
    /// When its rows were fetched last; nil where they never were.
    public var lastRefresh: Date?
    /// When the remote was asked last.
    public var lastAttempt: Date?
    /// How often the remote has failed since.
    public var failures = 0
    /// Why it failed the last time; nil while all is well.
    public var lastError: String?
    /// Before this time it isn't asked again by itself.
    public var retryTime: Date?
    /// When the rows become too old; nil where the policy doesn't go by their age.
    public var staleTime: Date?
    /// Whether the remote has refused the source, so that it answers the same however often it is asked: it isn't asked by itself any
    /// more until something changes. See ``PersistenceContainer/credentialsChanged()``.
    public var isRefused = false
    /// What the last complete answer came with.
    var validator: String?
    /// The query that it speaks for, and what became of the rows.
    var query: String?
    /// Whether all rows that it speaks for are the query's.
    var isClosed = false
    /// Up to this position of the log, the store's rows are those that it speaks for.
    var position: Int64 = 0
    /// The last refresh's name in its commits.
    var refresh = ""
    /// The last position whose rows the refresh has seen, and the line of the store's history that it belongs to.
    var end: Int64 = 0
    var line: [UInt8] = []

    init(source: String, parameter: String) {
        self.source = source
        self.parameter = parameter
    }

    /// When the remote will be asked by itself, as long as somebody shows the source; nil where it won't be, as
    /// after a refusal.
    public var nextRefresh: Date? {
        guard !isRefused else { return nil }
        guard let retryTime else { return staleTime }
        return staleTime.map { max($0, retryTime) } ?? retryTime
    }
}
