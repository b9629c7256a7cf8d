internal import Foundation
internal import StorageCore

/// When a source's remote is asked, and what is shown before it has answered.
///
/// | Policy | Shown at first | Remote is asked |
/// |---|---|---|
/// | `localOnly` | stored rows | only by `refresh()` |
/// | `cacheFirst` | stored rows if younger than `ttl`, otherwise nothing until the answer | when they are older |
/// | `staleWhileRevalidate` | stored rows | when they are older than `staleAfter` |
/// | `networkFirst` | nothing until the answer | at each opening |
/// | `networkOnly` | nothing until rows were fetched | at each opening |
///
/// Where the remote fails, all but `networkOnly` show the stored rows, with the error; it is asked again after a delay: a random part of 2,
/// 4, 8, 16, 32, and then 60 seconds, on top of what the remote asks for (``RetryableError/retryAfter``, up to a day). The delay is stored, so a
/// program that is started again keeps it. ``QueryResults/refresh()`` asks at once. A remote that has refused the source
/// (``QuerySourceStatus/isRefused``) isn't asked by itself any more.
///
/// A view that stays open asks again whenever its rows become too old.
public enum QueryCachePolicy: Sendable, Hashable {
    case localOnly
    case cacheFirst(ttl: Duration)
    case staleWhileRevalidate(staleAfter: Duration)
    case networkFirst
    case networkOnly
}

extension QueryCachePolicy {
    /// How old rows may become; nil where age doesn't matter.
    var maximumAge: Duration? {
        switch self {
        case .cacheFirst(let age), .staleWhileRevalidate(let age): age
        case .localOnly, .networkFirst, .networkOnly: nil
        }
    }
}

extension QueryCachePolicy: CustomStringConvertible {
    /// As written in the reason of commits: `staleWhileRevalidate(staleAfter: 300 s)`.
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
    public static func minutes(_ count: Double) -> Duration { .seconds(count * 60) }
    public static func hours(_ count: Double) -> Duration { .seconds(count * 3_600) }
    public static func days(_ count: Double) -> Duration { .seconds(count * 86_400) }

    var seconds: Double { self / .seconds(1) }

    fileprivate var secondsText: String {
        let seconds = seconds
        return seconds == seconds.rounded() && abs(seconds) < 1e15 ? "\(Int64(seconds)) s" : "\(seconds) s"
    }
}
