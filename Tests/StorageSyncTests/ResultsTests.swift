import Foundation
import StorageEntities
import StorageKit
import StorageSync
import StorageTesting
import TestSupport
import Testing

/// What those who show a source see.
@MainActor @Suite struct ResultsTests {
    private func chore(_ id: Int, _ title: String = "") -> Chore { Chore(id: id, title: title, priority: 0) }

    @Test("Stale rows are shown while the remote is asked")
    func staleRowsWhileAsking() async throws {
        let home = try Household()
        home.remote.rows = [chore(1, "old")]
        let source = home.source(.staleWhileRevalidate(staleAfter: .minutes(5)))
        try await home.container.refresh(source)
        home.clock.advance(by: .seconds(301))
        home.remote.rows = [chore(1, "new")]
        home.remote.hold()
        let results = home.container.results(of: source, start: .immediate)
        #expect(results.items == [chore(1, "old")])
        #expect(results.isStale)
        #expect(results.isLoading)
        #expect(results.lastRefreshTime == home.clock.now - 301)
        home.remote.release()
        try await eventually { !results.isLoading }
        #expect(results.items == [chore(1, "new")])
        #expect(!results.isStale)
        #expect(results.lastRefreshTime == home.clock.now)
    }

    @Test("Young rows are shown, and the remote isn't asked until they are old")
    func youngRows() async throws {
        let home = try Household()
        home.remote.rows = [chore(1, "old")]
        for policy in [QueryCachePolicy.cacheFirst(ttl: .minutes(5)), .staleWhileRevalidate(staleAfter: .minutes(5))] {
            let source = home.source(policy, name: "\(policy)")
            try await home.container.refresh(source)
            let count = home.remote.count
            home.clock.advance(by: .seconds(100))
            let results = home.container.results(of: source, start: .immediate)
            #expect(results.items.count == 1)
            #expect(!results.isStale)
            #expect(!results.isLoading)
            try await eventually { home.clock.sleeperCount == 1 }
            home.clock.advance(by: .seconds(199))
            #expect(home.remote.count == count)
            home.clock.advance(by: .seconds(1))
            try await eventually { home.remote.count == count + 1 && !results.isLoading }
            #expect(!results.isStale)
        }
    }

    @Test("Expired rows of a cache are hidden until the answer")
    func expiredCachedRows() async throws {
        let home = try Household()
        home.remote.rows = [chore(1, "old")]
        let source = home.source(.cacheFirst(ttl: .minutes(5)))
        try await home.container.refresh(source)
        home.clock.advance(by: .seconds(301))
        home.remote.hold()
        home.remote.rows = [chore(1, "new")]
        let results = home.container.results(of: source, start: .immediate)
        #expect(results.items == [])
        #expect(results.isLoading)
        home.remote.release()
        try await eventually { !results.isLoading }
        #expect(results.items == [chore(1, "new")])
    }

    @Test("A failing remote removes no rows and is asked again")
    func failingRemote() async throws {
        for policy in [
            QueryCachePolicy.cacheFirst(ttl: .minutes(5)), .staleWhileRevalidate(staleAfter: .minutes(5)),
            .networkFirst,
        ] {
            let home = try Household()
            home.remote.rows = [chore(1, "old")]
            let source = home.source(policy)
            try await home.container.refresh(source)
            home.clock.advance(by: .seconds(301))
            home.remote.failure = FakeRemote.Failure(retryAfter: .seconds(60))
            let results = home.container.results(of: source, start: .immediate)
            try await eventually { results.error != nil }
            #expect(results.items == [chore(1, "old")])
            #expect(results.isStale)
            #expect(!results.isLoading)
            #expect(results.error?.code == .remoteFailed)
            let status = try #require(results.status)
            #expect(status.failures == 1)
            #expect(status.nextRefresh ?? .distantPast >= home.clock.now + 60)
            // It isn't asked before it wants to be.
            try await eventually { home.clock.sleeperCount == 1 }
            home.clock.advance(by: .seconds(59))
            #expect(home.remote.count == 2)
            home.remote.failure = nil
            home.remote.rows = [chore(1, "new")]
            // The random part of the delay comes on top.
            home.clock.advance(by: .seconds(3))
            try await eventually { results.error == nil }
            #expect(results.items == [chore(1, "new")])
            #expect(!results.isStale)
        }
    }

    /// Also where its rows were still young when it said so: they become too old meanwhile.
    @Test("A remote that asks for a delay is left alone")
    func requestedDelay() async throws {
        let home = try Household()
        home.remote.rows = [chore(1, "old")]
        let source = home.source(.staleWhileRevalidate(staleAfter: .minutes(5)))
        try await home.container.refresh(source)
        home.clock.advance(by: .seconds(299))
        let results = home.container.results(of: source, start: .immediate)
        home.remote.failure = FakeRemote.Failure(retryAfter: .hours(1))
        await results.refresh()
        #expect(results.error?.code == .remoteFailed)
        #expect(!results.isStale)
        #expect(home.remote.count == 2)
        let next = try #require(results.status?.nextRefresh)
        #expect(next >= home.clock.now + 3_600)
        home.remote.failure = nil
        try await eventually { home.clock.sleeperCount == 1 }
        home.clock.advance(by: .seconds(1))
        try await eventually { results.isStale }
        #expect(!results.isLoading)
        #expect(home.remote.count == 2)
        try await eventually { home.clock.sleeperCount == 1 }
        home.clock.advance(by: .seconds(3_598))
        #expect(home.clock.sleeperCount == 1)
        #expect(home.remote.count == 2)
        home.clock.advance(by: .seconds(next.timeIntervalSince(home.clock.now) + 1))
        try await eventually { results.error == nil }
        #expect(!results.isStale)
        #expect(home.remote.count == 3)
    }

    /// All whom a remote has asked for the same would come back at once.
    @Test("Sources with the same delay come back one after another")
    func retriesAreSpread() async throws {
        let home = try Household()
        home.remote.failure = FakeRemote.Failure(retryAfter: .seconds(60))
        for number in 0..<20 {
            await #expect(throws: StorageError.self) {
                try await home.container.refresh(home.source(.networkFirst, name: "\(number)"))
            }
        }
        let waits = try await home.storage.querySourceStatuses().compactMap {
            $0.retryTime?.timeIntervalSince(home.clock.now)
        }
        #expect(waits.count == 20)
        #expect(waits.allSatisfy { $0 >= 60 && $0 <= 62 })
        #expect(Set(waits).count > 10)
    }

    @Test("`networkOnly` shows nothing that wasn't fetched")
    func networkOnlyPolicy() async throws {
        let home = try Household()
        home.remote.rows = [chore(1, "old")]
        let source = home.source(.networkOnly)
        try await home.container.refresh(source)
        home.remote.failure = FakeRemote.Failure(retryAfter: .seconds(60))
        let results = home.container.results(of: source, start: .immediate)
        try await eventually { results.error != nil }
        #expect(results.items == [])
        await #expect(throws: StorageError.self) { try await home.container.fetch(source) }
        home.remote.failure = nil
        await results.refresh()
        #expect(results.items == [chore(1, "old")])
        #expect(results.error == nil)
    }

    @Test("Many who show one source ask once")
    func sharedSource() async throws {
        let home = try Household()
        home.remote.rows = [chore(1)]
        home.remote.hold()
        let source = home.source(.networkFirst)
        // A view that makes a container each time that it is evaluated shows the same store.
        let all = (0..<10).map { number in
            (number < 5 ? home.container : PersistenceContainer(home.storage)).results(of: source, start: .immediate)
        }
        // On the main actor: both ask before anybody looks whether the remote was asked.
        let refresh = Task { await all[0].refresh() }
        let fetched = Task { try await home.container.fetch(source) }
        try await eventually { home.remote.count == 1 }
        home.remote.release()
        await refresh.value
        #expect(try await fetched.value == [chore(1)])
        #expect(home.remote.count == 1)
        #expect(all.allSatisfy { $0.items == [chore(1)] && !$0.isLoading })
        // Another parameter is another source.
        let other = home.source(.networkFirst, name: "others")
        _ = try await home.container.fetch(other)
        #expect(home.remote.count == 2)
    }

    @Test("A hidden source stops asking")
    func abandonedSource() async throws {
        let home = try Household()
        home.remote.hold()
        var results: QueryResults<Chore>? = home.container.results(of: home.source(.networkFirst), start: .immediate)
        try await eventually { home.remote.count == 1 }
        #expect(results?.isLoading == true)
        results = nil
        home.remote.release()
        try await eventually { home.remote.cancellations == 1 }
        #expect(try await home.storage.querySourceStatuses().isEmpty)
        // Nor does one that waits.
        home.remote.rows = [chore(1)]
        results = home.container.results(
            of: home.source(.staleWhileRevalidate(staleAfter: .minutes(1))), start: .immediate)
        try await eventually { home.clock.sleeperCount == 1 }
        results = nil
        try await eventually { home.clock.sleeperCount == 0 }
    }

    @Test("Age and failures survive a restart")
    func ageSurvivesRestart() async throws {
        let folder = try TemporaryFolder()
        let url = folder.url.appendingPathComponent("store.sqlite")
        let policy = QueryCachePolicy.staleWhileRevalidate(staleAfter: .minutes(5))
        do {
            let home = try Household(at: url)
            home.remote.rows = [chore(1)]
            try await home.container.refresh(home.source(policy))
            try await home.container.refresh(home.source(policy, name: "failing"))
            home.remote.failure = FakeRemote.Failure(retryAfter: .seconds(60))
            await #expect(throws: StorageError.self) {
                try await home.container.refresh(home.source(policy, name: "failing"))
            }
            try await home.storage.close()
        }
        let home = try Household(at: url)
        let results = home.container.results(of: home.source(policy), start: .immediate)
        #expect(results.items == [chore(1)])
        #expect(!results.isStale)
        #expect(results.error == nil)
        let failing = home.container.results(of: home.source(policy, name: "failing"), start: .immediate)
        #expect(failing.items == [chore(1)])
        #expect(!failing.isStale)
        #expect(failing.error != nil)
        #expect(!failing.isLoading)
        #expect(home.remote.count == 0)
        await failing.refresh()
        #expect(home.remote.count == 1)
        #expect(failing.error == nil)
        try await home.storage.close()
    }

    @Test("Stored rows are read in the background by default")
    func defaultStart() async throws {
        let home = try Household()
        try await home.storage.save(chore(1))
        let openings: [@MainActor () -> QueryResults<Chore>] = [
            { home.container.results(of: QuerySource(Household.all)) },
            { QueryResults(in: home.container) { QuerySource(Household.all, name: "other") } },
        ]
        for open in openings {
            let results = open()
            #expect(results.items.isEmpty)
            #expect(results.isLoading)
            await results.refresh()
            #expect(results.items == [chore(1)])
            #expect(!results.isLoading)
        }
        let results = QueryResults(in: home.container, start: .immediate) { QuerySource(Household.all) }
        #expect(results.items == [chore(1)])
        #expect(!results.isLoading)
    }

    @Test("A stored row that is found by its key is available at once by default")
    func defaultStartOfOneRow() async throws {
        let home = try Household()
        try await home.storage.save(chore(1))
        let one = home.storage.query(Chore.self).where { $0.id == 1 }.request
        let results = home.container.results(of: QuerySource(one))
        #expect(results.items == [chore(1)])
        #expect(!results.isLoading)
    }

    @Test("`.immediate` shows the rows of a source whose state is still being read")
    func immediateStartOfOpeningSource() async throws {
        let home = try Household()
        try await home.storage.save(chore(1))
        let later = home.container.results(of: QuerySource(Household.all), start: .background)
        let results = home.container.results(of: QuerySource(Household.all), start: .immediate)
        #expect(results.items == [chore(1)])
        #expect(!results.isLoading)
        await later.waitUntilRefreshed()
        #expect(later.items == [chore(1)])
    }

    @Test("Sources without a remote follow the store")
    func sourceWithoutRemote() async throws {
        let home = try Household()
        let results = home.container.results(of: QuerySource(Household.all), start: .immediate)
        #expect(results.items == [])
        #expect(!results.isLoading)
        #expect(!results.isStale)
        #expect(results.lastRefreshTime == nil)
        try await home.storage.save(chore(1))
        try await eventually { results.items == [chore(1)] }
        await results.refresh()
        #expect(results.error == nil)
        #expect(try await home.container.fetch(QuerySource(Household.all)) == [chore(1)])
    }

    @Test("A closed store isn't asked for any more")
    func closedStore() async throws {
        let home = try Household()
        let results = home.container.results(
            of: home.source(.staleWhileRevalidate(staleAfter: .minutes(1))), start: .immediate)
        try await eventually { home.clock.sleeperCount == 1 }
        try await home.storage.close()
        home.clock.advance(by: .seconds(61))
        try await eventually { results.error?.code == .closed }
        #expect(!results.isLoading)
        #expect(home.clock.sleeperCount == 0)
    }

    /// Also not for the sake of a failure that came before, or while the remote was asked.
    @Test("A store that is closed after a failure isn't asked for any more", arguments: [false, true])
    func closedStoreAfterFailure(_ isAsking: Bool) async throws {
        let home = try Household()
        home.remote.failure = FakeRemote.Failure()
        if isAsking { home.remote.hold() }
        let results = home.container.results(
            of: home.source(.staleWhileRevalidate(staleAfter: .minutes(1))), start: .immediate)
        try await eventually { home.remote.count == 1 }
        if !isAsking { try await eventually { results.status?.failures == 1 } }
        try await home.storage.close()
        home.remote.release()
        try await eventually { results.status?.failures == 1 && home.clock.sleeperCount == 1 }
        home.clock.advance(by: .seconds(120))
        await results.refresh()
        #expect(results.error?.code == .closed)
        #expect(!results.isLoading)
        #expect(home.clock.sleeperCount == 0)
        #expect(home.remote.count == 1)
    }

    /// As one does that ends a request which takes it too long.
    @Test("A remote that cancels its own work has failed")
    func remoteCancellingItself() async throws {
        let home = try Household()
        home.remote.failure = CancellationError()
        let results = home.container.results(of: home.source(.networkFirst), start: .immediate)
        try await eventually { results.error != nil && !results.isLoading }
        #expect(results.error?.code == .remoteFailed)
        #expect(results.status?.failures == 1)
        #expect(try #require(results.status?.retryTime) > home.clock.now)
        try await eventually { home.clock.sleeperCount == 1 }
        await results.refresh()
        #expect(results.error?.code == .remoteFailed)
        #expect(results.status?.failures == 2)
        #expect(!results.isLoading)
        #expect(try #require(results.status?.retryTime) > home.clock.now)
        try await eventually { home.clock.sleeperCount == 1 }
        #expect(home.remote.count == 2)
        #expect(try await home.storage.querySourceStatuses().first?.failures == 2)
    }

    /// It isn't the remote that has failed, so it isn't asked, nor asked again.
    @Test("Rows without a table aren't requested")
    func rowsWithoutTable() async throws {
        let remote = FakeRemote([Household.chore(1)])
        let clock = ManualClock()
        let container = try PersistenceContainer.inMemory(config: StorageConfig(clock: clock))
        for policy: QueryCachePolicy in [.networkFirst, .staleWhileRevalidate(staleAfter: .minutes(1)), .networkOnly] {
            let source = QuerySource(Household.all, name: "\(policy)")
                .remote(merge: .replace) { try await remote.all() }.cache(policy)
            let results = container.results(of: source, start: .immediate)
            await results.waitUntilRefreshed()
            await results.refresh()
            let refreshed = await #expect(throws: StorageError.self) { try await container.refresh(source) }
            let fetched = await #expect(throws: StorageError.self) { try await container.fetch(source) }
            for error in [results.error, refreshed, fetched] {
                #expect(error?.code == .notFound)
                #expect(error?.remedy.contains("autoSchema") == true)
            }
            // A fetch that has stored rows to show, or an error of theirs, waits for nobody.
            await results.waitUntilRefreshed()
            #expect(results.items.isEmpty)
            #expect(!results.isLoading)
            #expect(clock.sleeperCount == 0)
        }
        #expect(remote.count == 0)
        #expect(try await container.storage.querySourceStatuses().isEmpty)
    }

    /// Also not where the remote of a source of this name has failed before.
    @Test("Rows without a table aren't requested after a failure")
    func rowsWithoutTableAfterFailure() async throws {
        let home = try Household()
        home.remote.failure = FakeRemote.Failure()
        await #expect(throws: StorageError.self) {
            try await home.container.refresh(home.source(.networkFirst, name: "things"))
        }
        let remote = RemoteRows<Parcel>()
        let all: QueryRequest<Parcel> = Parcel.all()
        let source = QuerySource(all, name: "things").remote { try await remote.all() }.cache(.networkFirst)
        let results = home.container.results(of: source, start: .immediate)
        await results.waitUntilRefreshed()
        #expect(results.status?.failures == 1)
        home.clock.advance(by: .seconds(120))
        await results.refresh()
        #expect(results.error?.code == .notFound)
        #expect(!results.isLoading)
        #expect(home.clock.sleeperCount == 0)
        #expect(remote.count == 0)
    }

    @Test("Sources without a name are known by their query")
    func unnamedSources() async throws {
        let home = try Household()
        func source(_ priority: Int) -> QuerySource<Chore> {
            QuerySource(home.storage.query(Chore.self).where { $0.priority == priority }.request)
        }
        #expect(source(1).name == source(2).name)
        #expect(source(1).parameter != source(2).parameter)
        #expect(source(1).parameter == source(1).parameter)
    }
}
