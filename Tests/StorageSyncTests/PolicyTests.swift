import Foundation
import Testing

@testable import StorageSync

/// What each policy makes of the age of the rows and of the remote's failures: the table of ``QueryCachePolicy``, cell by cell.
@Suite struct PolicyTests {
    private static let now = Date(timeIntervalSince1970: 1_000_000)

    enum Age: CaseIterable { case never, young, old, ahead }
    enum Remote: CaseIterable { case fine, failedLately, failedLongAgo, failedAhead }

    private static func status(_ age: Age, _ remote: Remote) -> QuerySourceStatus {
        var status = QuerySourceStatus(source: "chores", parameter: "")
        switch age {
        case .never: break
        case .young: status.lastRefresh = now - 30
        case .old: status.lastRefresh = now - 90
        case .ahead: status.lastRefresh = now + 3_600
        }
        switch remote {
        case .fine: break
        case .failedLately: (status.failures, status.retryTime) = (1, now + 10)
        case .failedLongAgo: (status.failures, status.retryTime) = (1, now - 10)
        case .failedAhead: (status.failures, status.retryTime) = (1, now + 1e6)
        }
        return status
    }

    private static func plan(_ shown: Bool, stale: Bool, asks: Double?) -> RefreshPlan {
        RefreshPlan(showsStored: shown, isStale: stale, asksAt: asks.map { now + $0 })
    }

    @Test(arguments: Age.allCases, Remote.allCases)
    func localOnlyAsksNobody(age: Age, remote: Remote) {
        for isOpening in [true, false] {
            let plan = QueryCachePolicy.localOnly.plan(Self.status(age, remote), now: Self.now, isOpening: isOpening)
            #expect(plan == Self.plan(true, stale: false, asks: nil))
        }
    }

    @Test(arguments: Age.allCases, Remote.allCases)
    func agesDecideWhenIsAsked(age: Age, remote: Remote) {
        let isFresh = age == .young
        let wait = remote == .failedLately ? 10.0 : 0
        for isOpening in [true, false] {
            let status = Self.status(age, remote)
            let lenient = QueryCachePolicy.staleWhileRevalidate(staleAfter: .minutes(1))
            #expect(
                lenient.plan(status, now: Self.now, isOpening: isOpening)
                    == Self.plan(true, stale: !isFresh, asks: isFresh ? 30 : wait))
            let strict = QueryCachePolicy.cacheFirst(ttl: .minutes(1))
            #expect(
                strict.plan(status, now: Self.now, isOpening: isOpening)
                    == Self.plan(isFresh || remote == .failedLately, stale: !isFresh, asks: isFresh ? 30 : wait))
        }
    }

    @Test(arguments: Age.allCases, Remote.allCases)
    func networkPoliciesAskAtEachOpening(age: Age, remote: Remote) {
        let isStale = age == .never || age == .ahead || remote != .fine
        let waits = remote == .failedLately
        let status = Self.status(age, remote)
        for policy in [QueryCachePolicy.networkFirst, .networkOnly] {
            let shows = policy == .networkFirst && waits
            #expect(
                policy.plan(status, now: Self.now, isOpening: true)
                    == Self.plan(shows, stale: isStale, asks: waits ? 10 : 0))
            #expect(
                policy.plan(status, now: Self.now, isOpening: false)
                    == Self.plan(shows, stale: isStale, asks: isStale ? (waits ? 10 : 0) : nil))
        }
    }

    /// Rows that are too old as soon as they come aren't asked for again and again.
    @Test func agesThatAreTooShortDontAskWithoutEnd() {
        let status = Self.status(.young, .fine)
        var fetched = status
        fetched.lastRefresh = Self.now
        for (age, pause) in [(Duration.zero, Double?.none), (.milliseconds(1), 1), (.seconds(5), 5)] {
            let policy = QueryCachePolicy.staleWhileRevalidate(staleAfter: age)
            #expect(policy.plan(fetched, now: Self.now, isOpening: false).asksAt == pause.map { Self.now + $0 })
            #expect(policy.plan(status, now: Self.now, isOpening: true).asksAt == Self.now)
        }
    }

    @Test func policiesAreNamedAsTheyAreWritten() {
        #expect(
            "\(QueryCachePolicy.staleWhileRevalidate(staleAfter: .minutes(5)))"
                == "staleWhileRevalidate(staleAfter: 300 s)")
        #expect("\(QueryCachePolicy.cacheFirst(ttl: .seconds(0.5)))" == "cacheFirst(ttl: 0.5 s)")
    }
}
