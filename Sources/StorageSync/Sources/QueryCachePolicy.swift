internal import Foundation
internal import StorageCore

/// When a source's remote is asked, and what is shown before it has answered.
///
/// | Policy | Shown at first | Remote is asked |
/// |---|---|---|
/// | `localOnly` | stored rows | only by `refresh()` |
/// | `cacheFirst` | stored rows if younger than `ttl`, otherwise nothing until the answer | when they are older |
/// | `staleWhileRevalidate` | stored rows | when they are older than `staleAfter` |
/// | `networkFirst` | nothing until the answer | on each opening |
/// | `networkOnly` | nothing until rows were fetched | on each opening |
///
/// If the remote fails, all but `networkOnly` show the stored rows, with the error. It is retried after a back-off: a
/// random part of 2, 4, 8, 16, 32, and then 60 seconds, added to the delay that the remote requests
/// (``RetryableError/retryAfter``, up to a day). The back-off is stored, so it survives a restart of the program.
/// ``QueryResults/refresh()`` asks at once. A remote that has refused the source (``QuerySourceStatus/isRefused``)
/// isn't retried automatically.
///
/// While a source is shown, it is fetched again whenever its rows become stale.
public enum QueryCachePolicy: Sendable, Hashable {
    /// Shows stored rows; only `refresh()` asks the remote.
    case localOnly
    /// Shows stored rows younger than `ttl`; otherwise waits for the remote.
    case cacheFirst(ttl: Duration)
    /// Shows stored rows, and asks the remote if they are older than `staleAfter`.
    case staleWhileRevalidate(staleAfter: Duration)
    /// Waits for the remote on each opening; shows stored rows if it fails.
    case networkFirst
    /// Waits for the remote on each opening; shows nothing if it fails.
    case networkOnly
}

extension QueryCachePolicy {
    /// The allowed age of rows; nil if their age is irrelevant.
    var maximumAge: Duration? {
        switch self {
        case .cacheFirst(let age), .staleWhileRevalidate(let age): age
        case .localOnly, .networkFirst, .networkOnly: nil
        }
    }
}

extension QueryCachePolicy: CustomStringConvertible {
    /// The policy as the reason of commits shows it, such as `staleWhileRevalidate(staleAfter: 300 s)`.
    public var description: String {
        switch self {
        case .localOnly: "localOnly"
        case .cacheFirst(let ttl): "cacheFirst(ttl: \(ttl.secondsText))"
        case .staleWhileRevalidate(let age): "staleWhileRevalidate(staleAfter: \(age.secondsText))"
        case .networkFirst: "networkFirst"
        case .networkOnly: "networkOnly"
        }
    }
}

extension Duration {
    /// Returns a duration in minutes; at most a century, and zero for NaN.
    public static func minutes(_ count: Double) -> Duration { .limited(seconds: count * 60) }
    /// Returns a duration in hours; at most a century, and zero for NaN.
    public static func hours(_ count: Double) -> Duration { .limited(seconds: count * 3_600) }
    /// Returns a duration in days of 24 hours each; at most a century, and zero for NaN.
    public static func days(_ count: Double) -> Duration { .limited(seconds: count * 86_400) }

    fileprivate var secondsText: String {
        let seconds = seconds
        return seconds == seconds.rounded() && abs(seconds) < 1e15 ? "\(Int64(seconds)) s" : "\(seconds) s"
    }
}
