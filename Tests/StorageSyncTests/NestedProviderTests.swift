import StorageEntities
import StorageKit
import StorageSync
import StorageTesting
import TestSupport
import Testing

@QuerySources
private struct HomeSources {
    let remote: FakeRemote
    let policy: QueryCachePolicy

    var all: QuerySource<Chore> {
        QuerySource(Chore.all()).remote { [remote] in try await remote.all() }.cache(policy)
    }
}

/// A feature's provider inside of another of its type, with a remote of its own, over one store: the sources have the same names.
@MainActor @Suite struct NestedProviderTests {
    private let outer = FakeRemote([Household.chore(1, "outer")])
    private let inner = FakeRemote([Household.chore(1, "inner")])
    private let home: Household

    init() throws { home = try Household() }

    private var counts: [Int] { [outer.count, inner.count] }

    /// What is shown inside of one provider, and inside of one in it.
    private func shown(
        _ policy: QueryCachePolicy, _ innerPolicy: QueryCachePolicy? = nil
    ) throws -> (outer: QueryResults<Chore>, inner: QueryResults<Chore>) {
        func results() throws -> QueryResults<Chore> {
            home.container.results(of: try QuerySourceRegistry.current.source(\HomeSources.all), start: .immediate)
        }
        return try withQuerySources(HomeSources(remote: outer, policy: policy)) {
            let first = try results()
            return try withQuerySources(HomeSources(remote: inner, policy: innerPolicy ?? policy)) {
                (first, try results())
            }
        }
    }

    @Test("Each scope asks its own remote")
    func eachAsksItsOwnRemote() async throws {
        let shown = try shown(.networkFirst)
        await shown.outer.waitUntilRefreshed()
        #expect(counts == [1, 0])
        #expect(shown.inner.items.map(\.title) == ["outer"])
        // Somebody else begins to show it in the feature.
        let source = HomeSources(remote: inner, policy: .networkFirst).source(\.all)
        let third = home.container.results(of: source, start: .immediate)
        await third.waitUntilRefreshed()
        #expect(counts == [1, 1])
        #expect(third.items.map(\.title) == ["inner"])
        await shown.outer.refresh()
        #expect(counts == [2, 1])
        #expect(third.items.map(\.title) == ["outer"])
        await shown.inner.refresh()
        #expect(counts == [2, 2])
        #expect(shown.outer.items.map(\.title) == ["inner"])
        try await home.container.refresh(source)
        #expect(counts == [2, 3])
    }

    @Test("Scopes share the request under way")
    func sharedRequest() async throws {
        outer.hold()
        let shown = try shown(.networkFirst)
        async let refresh: Void = shown.inner.refresh()
        try await eventually { outer.count == 1 }
        #expect(shown.inner.isLoading)
        outer.release()
        await refresh
        #expect(counts == [1, 0])
        #expect(shown.inner.items.map(\.title) == ["outer"])
    }

    /// By itself, the remote of the last view is asked, as long as that shows it.
    @Test("Expired rows are fetched for those who still show them")
    func expiredRowsAreRefetched() async throws {
        let shown = try shown(.staleWhileRevalidate(staleAfter: .minutes(5)))
        await shown.outer.waitUntilRefreshed()
        #expect(counts == [1, 0])
        try await reachAge(of: shown.outer, counts: [1, 1])
    }

    @Test("Nothing is fetched for a view that is gone")
    func hiddenViewIsNotServed() async throws {
        let first: QueryResults<Chore>
        do {
            let shown = try shown(.staleWhileRevalidate(staleAfter: .minutes(5)))
            first = shown.outer
            await first.waitUntilRefreshed()
            try await eventually { home.clock.sleeperCount == 1 }
            withExtendedLifetime(shown) {}
        }
        try await reachAge(of: first, counts: [2, 0])
    }

    /// Also where who goes last would never have had them fetched again.
    @Test("A remaining view is served when another one goes")
    func remainingViewIsServed() async throws {
        let first: QueryResults<Chore>
        do {
            let shown = try shown(.staleWhileRevalidate(staleAfter: .minutes(5)), .networkFirst)
            first = shown.outer
            await first.waitUntilRefreshed()
            await shown.inner.waitUntilRefreshed()
            withExtendedLifetime(shown) {}
        }
        let before = outer.count
        try await eventually { home.clock.sleeperCount == 1 }
        home.clock.advance(by: .seconds(300))
        try await eventually { outer.count == before + 1 && !first.isLoading }
    }

    private func reachAge(of results: QueryResults<Chore>, counts expected: [Int]) async throws {
        try await eventually { home.clock.sleeperCount == 1 }
        home.clock.advance(by: .seconds(300))
        try await eventually { counts == expected && !results.isLoading }
    }

    @Test("A local-only view leaves the waits of others alone")
    func localViewLeavesOthersWaiting() async throws {
        let shown = try shown(.staleWhileRevalidate(staleAfter: .minutes(5)), .localOnly)
        await shown.outer.waitUntilRefreshed()
        #expect(shown.inner.items.map(\.title) == ["outer"])
        try await eventually { home.clock.sleeperCount == 1 }
        let third = home.container.results(
            of: HomeSources(remote: inner, policy: .localOnly).source(\.all), start: .immediate)
        home.clock.advance(by: .seconds(300))
        try await eventually { counts == [2, 0] && !third.isLoading }
    }
}
