import StorageKit
import StorageSync

/// A line of `sources`.
///
/// - `source`, `parameter`: The query source, and its parameter.
/// - `policy`: When it is fetched.
/// - `fetched`: The last complete fetch; null for never.
/// - `asked`: The last attempt; null for never.
/// - `next`: The next attempt; null if none is due.
/// - `failures`: The number of failed attempts since the last fetch.
/// - `refused`: Whether its remote has refused it.
/// - `error`: The last error, or null.
struct SourceRecord: JSONRecord {
    let source: QuerySourceStatus

    func write(to json: inout JSONWriter) {
        json.member("source", source.source)
        json.member("parameter", source.parameter)
        json.member("policy", source.policy)
        json.member("fetched", time: source.lastRefresh.map(\.microseconds))
        json.member("asked", time: source.lastAttempt.map(\.microseconds))
        json.member("next", time: source.nextRefresh.map(\.microseconds))
        json.member("failures", source.failures)
        json.member("refused", source.isRefused)
        json.member("error", source.lastError)
    }
}
