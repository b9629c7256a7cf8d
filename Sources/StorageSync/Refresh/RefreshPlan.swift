internal import Foundation
internal import StorageCore

/// What a policy makes of a source's state at a time.
struct RefreshPlan: Equatable, Sendable {
    /// Whether stored rows are shown before the remote has answered.
    var showsStored: Bool
    /// Whether stored rows are older than the policy allows; where it doesn't go by age, whether the remote has failed since they were
    /// fetched.
    var isStale: Bool
    /// When the remote is to be asked; nil where it isn't.
    var asksAt: Date?
}

extension QueryCachePolicy {
    /// The longest wait that a remote can ask for, in seconds. A wait that is longer by more than the random part comes from a clock that
    /// was set back.
    static var longestWait: TimeInterval { 86_400 }
    /// The seconds between two requests that nobody asks for, however short the age that rows may reach.
    static var shortestPause: TimeInterval { 1 }

    /// - Parameters:
    ///   - isOpening: Whether somebody has just begun to show the source: some policies ask then, whatever is stored.
    ///   - mayAskRefused: Whether a remote that has refused the source may be asked once more, because something may have changed.
    func plan(
        _ status: QuerySourceStatus, now: Date, isOpening: Bool, mayAskRefused: Bool = false
    ) -> RefreshPlan {
        guard self != .localOnly else { return RefreshPlan(showsStored: true, isStale: false, asksAt: nil) }
        let lastRefresh = status.lastRefresh(before: now)
        let latest = now + Self.longestWait + Double(RemoteDelay.longestRandomMicroseconds) / 1_000_000
        let retryTime = status.retryTime.flatMap { $0 > now && $0 <= latest ? $0 : nil }
        let expiry = expiry(of: status, now: now)
        // `failures` begins at zero again with each success. Rows that are young enough need none.
        let isStale = maximumAge == nil ? lastRefresh == nil || status.failures > 0 : expiry.map { $0 <= now } ?? true
        let isHeldBack = status.isRefused && !mayAskRefused
        let asksAt: Date? =
            switch self {
            case .localOnly: nil
            case _ where isHeldBack: nil
            case .cacheFirst, .staleWhileRevalidate:
                if isStale, isOpening || lastRefresh == nil || status.failures > 0 {
                    retryTime ?? now
                } else {
                    // Rows that are too old as soon as they come are asked for at openings only. A remote that wants to be left alone
                    // is, though its rows were still young when it was asked.
                    maximumAge == .zero
                        ? nil : expiry.map { max($0, (lastRefresh ?? now) + Self.shortestPause, retryTime ?? now) }
                }
            case .networkFirst, .networkOnly: isOpening || isStale ? retryTime ?? now : nil
            }
        let showsStored =
            switch self {
            case .localOnly, .staleWhileRevalidate: true
            // Nobody is asked now, so there is nothing to wait for.
            case .cacheFirst: !isStale || retryTime != nil || isHeldBack
            case .networkFirst: retryTime != nil || isHeldBack
            case .networkOnly: false
            }
        return RefreshPlan(showsStored: showsStored, isStale: isStale, asksAt: asksAt)
    }

    /// When the rows become too old; nil where they were never fetched, or where the policy doesn't go by their age.
    func expiry(of status: QuerySourceStatus, now: Date) -> Date? {
        status.lastRefresh(before: now).flatMap { last in maximumAge.map { last + $0.seconds } }
    }
}

extension QuerySourceStatus {
    /// When the rows were fetched. A time that lies ahead is that of a clock that was set back since: it says nothing.
    fileprivate func lastRefresh(before now: Date) -> Date? { lastRefresh.flatMap { $0 > now ? nil : $0 } }
}
