import Foundation
import Testing

@testable import StorageSync

/// What each policy makes of the age of the rows and of the remote's failures: the table of ``QueryCachePolicy``, cell by cell.
@Suite struct PolicyTests {
    private static let now = Date(timeIntervalSince1970: 1_000_000)

    enum Age: CaseIterable { case never, young, old, ahead }
    /// `wantsPeace` has asked to be left alone for longer than young rows stay young.
    enum Remote: CaseIterable {
        case fine, failedLately, wantsPeace, failedLongAgo, failedAhead

        /// The seconds until it may be asked.
        var wait: Double {
            switch self {
            case .failedLately: 10
            case .wantsPeace: 60
            case .fine, .failedLongAgo, .failedAhead: 0
            }
        }
    }

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
        case .failedLately, .wantsPeace: (status.failures, status.retryTime) = (1, now + remote.wait)
        case .failedLongAgo: (status.failures, status.retryTime) = (1, now - 10)
        case .failedAhead: (status.failures, status.retryTime) = (1, now + 1e6)
        }
        return status
    }

    private static func plan(_ shown: Bool, stale: Bool, asks: Double?) -> RefreshPlan {
        RefreshPlan(showsStored: shown, isStale: stale, requestTime: asks.map { now + $0 })
    }

    @Test("`localOnly` never asks a remote", arguments: Age.allCases, Remote.allCases)
    func localOnlyPolicy(age: Age, remote: Remote) {
        for isOpening in [true, false] {
            let plan = QueryCachePolicy.localOnly.plan(Self.status(age, remote), now: Self.now, isOpening: isOpening)
            #expect(plan == Self.plan(true, stale: false, asks: nil))
        }
    }

    @Test("Age decides when the remote is asked", arguments: Age.allCases, Remote.allCases)
    func agePolicies(age: Age, remote: Remote) {
        let isFresh = age == .young
        // Young rows are asked for when they are old, or when the remote may be asked again.
        let asks = isFresh ? max(30, remote.wait) : remote.wait
        for isOpening in [true, false] {
            let status = Self.status(age, remote)
            let lenient = QueryCachePolicy.staleWhileRevalidate(staleAfter: .minutes(1))
            #expect(
                lenient.plan(status, now: Self.now, isOpening: isOpening)
                    == Self.plan(true, stale: !isFresh, asks: asks))
            let strict = QueryCachePolicy.cacheFirst(ttl: .minutes(1))
            #expect(
                strict.plan(status, now: Self.now, isOpening: isOpening)
                    == Self.plan(isFresh || remote.wait > 0, stale: !isFresh, asks: asks))
        }
    }

    @Test("Network policies ask at each opening", arguments: Age.allCases, Remote.allCases)
    func networkPolicies(age: Age, remote: Remote) {
        let isStale = age == .never || age == .ahead || remote != .fine
        let status = Self.status(age, remote)
        for policy in [QueryCachePolicy.networkFirst, .networkOnly] {
            let shows = policy == .networkFirst && remote.wait > 0
            #expect(
                policy.plan(status, now: Self.now, isOpening: true)
                    == Self.plan(shows, stale: isStale, asks: remote.wait))
            #expect(
                policy.plan(status, now: Self.now, isOpening: false)
                    == Self.plan(shows, stale: isStale, asks: isStale ? remote.wait : nil))
        }
    }

    /// Rows that are too old as soon as they come aren't asked for again and again.
    @Test("Ages that are too short don't ask endlessly")
    func tooShortAges() {
        let status = Self.status(.young, .fine)
        var fetched = status
        fetched.lastRefresh = Self.now
        for (age, pause) in [(Duration.zero, Double?.none), (.milliseconds(1), 1), (.seconds(5), 5)] {
            let policy = QueryCachePolicy.staleWhileRevalidate(staleAfter: age)
            #expect(policy.plan(fetched, now: Self.now, isOpening: false).requestTime == pause.map { Self.now + $0 })
            #expect(policy.plan(status, now: Self.now, isOpening: true).requestTime == Self.now)
        }
    }

    @Test("Policies are described as they are written")
    func policyDescriptions() {
        #expect(
            "\(QueryCachePolicy.staleWhileRevalidate(staleAfter: .minutes(5)))"
                == "staleWhileRevalidate(staleAfter: 300 s)")
        #expect("\(QueryCachePolicy.cacheFirst(ttl: .seconds(0.5)))" == "cacheFirst(ttl: 0.5 s)")
    }
}
