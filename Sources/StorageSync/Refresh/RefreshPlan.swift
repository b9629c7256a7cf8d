internal import Foundation
internal import StorageCore

/// The decisions of a policy for a source's state at a given time.
struct RefreshPlan: Equatable, Sendable {
    /// Whether stored rows are shown before the remote has answered.
    var showsStored: Bool
    /// Whether stored rows are older than the policy allows; if it ignores their age, whether the remote has failed
    /// since they were fetched.
    var isStale: Bool
    /// When to ask the remote; nil for never.
    var requestTime: Date?
}

extension QueryCachePolicy {
    /// The longest delay that a remote can request, in seconds. A delay that exceeds it by more than the random part
    /// results from a clock that was set back.
    static var longestWait: TimeInterval { 86_400 }
    /// The minimum number of seconds between two automatic requests, however short the allowed age is.
    static var shortestPause: TimeInterval { 1 }

    /// - Parameters:
    ///   - isOpening: Whether the source has just been opened: some policies ask then, whatever is stored.
    ///   - mayAskRefused: Whether a remote that has refused the source may be asked once more, because something may
    ///     have changed.
    func plan(
        _ status: QuerySourceStatus, now: Date, isOpening: Bool, mayAskRefused: Bool = false
    ) -> RefreshPlan {
        guard self != .localOnly else { return RefreshPlan(showsStored: true, isStale: false, requestTime: nil) }
        let lastRefresh = status.lastRefresh(before: now)
        let latest = now + Self.longestWait + Double(RemoteDelay.longestRandomMicroseconds) / 1_000_000
        let retryTime = status.retryTime.flatMap { $0 > now && $0 <= latest ? $0 : nil }
        let expiry = expiry(of: status, now: now)
        // `failures` restarts at zero with each success. Rows that are young enough tolerate failures.
        let isStale = maximumAge == nil ? lastRefresh == nil || status.failures > 0 : expiry.map { $0 <= now } ?? true
        let isHeldBack = status.isRefused && !mayAskRefused
        let requestTime: Date? =
            switch self {
            case .localOnly: nil
            case _ where isHeldBack: nil
            case .cacheFirst, .staleWhileRevalidate:
                if isStale, isOpening || lastRefresh == nil || status.failures > 0 {
                    retryTime ?? now
                } else {
                    // Rows that are stale on arrival are requested on opening only. A requested delay is respected,
                    // even if the rows were still young when the remote was asked.
                    maximumAge == .zero
                        ? nil : expiry.map { max($0, (lastRefresh ?? now) + Self.shortestPause, retryTime ?? now) }
                }
            case .networkFirst, .networkOnly: isOpening || isStale ? retryTime ?? now : nil
            }
        let showsStored =
            switch self {
            case .localOnly, .staleWhileRevalidate: true
            // The remote isn't asked now, so there is nothing to wait for.
            case .cacheFirst: !isStale || retryTime != nil || isHeldBack
            case .networkFirst: retryTime != nil || isHeldBack
            case .networkOnly: false
            }
        return RefreshPlan(showsStored: showsStored, isStale: isStale, requestTime: requestTime)
    }

    /// When the rows become stale; nil if they were never fetched, or the policy ignores their age.
    func expiry(of status: QuerySourceStatus, now: Date) -> Date? {
        status.lastRefresh(before: now).flatMap { last in maximumAge.map { last + $0.seconds } }
    }
}

extension QuerySourceStatus {
    /// When the rows were fetched. A time in the future comes from a clock that was set back since, and is ignored.
    fileprivate func lastRefresh(before now: Date) -> Date? { lastRefresh.flatMap { $0 > now ? nil : $0 } }
}
