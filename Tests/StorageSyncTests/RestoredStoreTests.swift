import Foundation
import StorageKit
import StorageLog
import StorageMaintenance
import StorageSync
import StorageTesting
import TestSupport
import Testing

/// Copies of a store keep what is known of its sources as far as they have the rows.
@MainActor @Suite struct RestoredStoreTests {
    private func source(_ home: Household) -> QuerySource<Chore> {
        QuerySource(Household.all, name: "validated").remote(
            QueryRefreshAction { [remote = home.remote] in try await remote.validated($0) }
        ).cache(.staleWhileRevalidate(staleAfter: .hours(1)))
    }

    /// Fetches twice, restores the store to what it was after the first or second time, and looks at it.
    private func restore(
        after fetches: Int, _ body: (PersistenceContainer, Household) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        let home = try Household(at: folder.url.appendingPathComponent("store.sqlite"))
        var heads: [Int64] = []
        for count in 1...2 {
            home.remote.rows = (0..<count).map { Chore(id: $0, title: "", priority: 0) }
            try await home.container.refresh(source(home))
            heads.append(home.storage.head)
        }
        try await home.storage.close()
        let copy = folder.url.appendingPathComponent("copy.sqlite")
        _ = try await PointRestore(folder.path()).run(
            heads[fetches - 1], to: copy.path, replacing: false,
            recording: (StorageOperation("restore"), CommitMetadata()))
        let container = try PersistenceContainer.file(at: copy, config: StorageConfig(clock: home.clock)) {
            $0.autoSchema(ChoreRecord.self)
        }
        try await body(container, home)
        try await container.storage.close()
    }

    @Test("A store from before the fetch is fetched whole")
    func storeFromBeforeFetch() async throws {
        try await restore(after: 1) { container, home in
            #expect(try await container.storage.query(Chore.self).count() == 1)
            let status = try #require(try await container.storage.querySourceStatuses().first)
            #expect(status.lastRefresh == nil)
            #expect(status.source == "validated")
            home.remote.hold()
            let results = container.results(of: source(home), start: .immediate)
            #expect(results.isStale)
            #expect(results.isLoading)
            home.remote.release()
            await results.waitUntilRefreshed()
            #expect(home.remote.requests.last?.validator == nil)
            #expect(results.items == home.remote.rows)
            #expect(!results.isStale)
        }
    }

    @Test("A store from after the fetch is as fresh as the original")
    func storeFromAfterFetch() async throws {
        try await restore(after: 2) { container, home in
            let results = container.results(of: source(home), start: .immediate)
            #expect(results.items == home.remote.rows)
            #expect(!results.isStale)
            #expect(!results.isLoading)
            await results.refresh()
            #expect(home.remote.requests.last?.validator != nil)
            #expect(results.items == home.remote.rows)
        }
    }
}
