import Foundation
import StorageKit
import StorageSync
import StorageTesting
import TestSupport
import Testing

/// Remotes that answer the same however often they are asked.
@MainActor @Suite struct RefusalTests {
    private static let refusal = FakeRemote.Failure(isRefusal: true)
    private let lenient = QueryCachePolicy.staleWhileRevalidate(staleAfter: .minutes(5))

    private func refused(_ home: Household, _ policy: QueryCachePolicy) async throws -> QueryResults<Chore> {
        home.remote.rows = [Household.chore(1)]
        try await home.container.refresh(home.source(policy))
        home.clock.advance(by: .seconds(301))
        home.remote.failure = Self.refusal
        let results = home.container.results(of: home.source(policy), start: .immediate)
        try await eventually { results.error != nil && !results.isLoading }
        return results
    }

    @Test("A refused source isn't asked again by itself")
    func refusedSourceIsLeftAlone() async throws {
        for policy in [lenient, .cacheFirst(ttl: .minutes(5)), .networkFirst] {
            let home = try Household()
            let results = try await refused(home, policy)
            #expect(results.items == [Household.chore(1)])
            #expect(results.isStale)
            #expect(results.error?.remedy.contains("isn't retried automatically") == true)
            let status = try #require(results.status)
            #expect(status.isRefused)
            #expect(status.failures == 1)
            #expect(status.retryTime == nil)
            #expect(status.nextRefresh == nil)
            home.clock.advance(by: .seconds(86_400))
            // Neither for others who begin to show it.
            let others = home.container.results(of: home.source(policy), start: .immediate)
            #expect(others.items == [Household.chore(1)])
            #expect(others.error != nil)
            #expect(!others.isLoading)
            #expect(home.clock.sleeperCount == 0)
            #expect(home.remote.count == 2)
            // Who asks for it explicitly is answered.
            await results.refresh()
            #expect(home.remote.count == 3)
            #expect(results.status?.failures == 2)
            home.remote.failure = nil
            await results.refresh()
            #expect(results.error == nil)
            #expect(results.status?.isRefused == false)
            #expect(try await home.storage.querySourceStatuses().first?.isRefused == false)
        }
    }

    @Test("New credentials are tried")
    func newCredentials() async throws {
        let home = try Household()
        let results = try await refused(home, lenient)
        home.container.credentialsChanged()
        try await eventually { results.status?.failures == 2 && !results.isLoading }
        #expect(home.remote.count == 3)
        #expect(home.clock.sleeperCount == 0)
        home.remote.failure = nil
        home.container.credentialsChanged()
        try await eventually { results.error == nil && !results.isLoading }
        #expect(home.remote.count == 4)
        // Sources that weren't refused aren't asked for that.
        home.container.credentialsChanged()
        #expect(home.remote.count == 4)
        #expect(!results.isLoading)
    }

    /// The request may have been made with the old ones.
    @Test("Credentials that change during a request are tried after it")
    func credentialsDuringRequest() async throws {
        let home = try Household()
        home.remote.failure = Self.refusal
        home.remote.hold()
        let results = home.container.results(of: home.source(.networkFirst), start: .immediate)
        try await eventually { home.remote.count == 1 }
        home.container.credentialsChanged()
        home.remote.release()
        try await eventually { home.remote.count == 2 && !results.isLoading }
        #expect(results.status?.isRefused == true)
        #expect(results.status?.failures == 2)
    }

    @Test("A hidden source is retried when it is shown")
    func hiddenSource() async throws {
        let home = try Household()
        var results: QueryResults<Chore>? = try await refused(home, lenient)
        #expect(results != nil)
        results = nil
        results = home.container.results(of: home.source(lenient), start: .immediate)
        #expect(results?.isLoading == false)
        #expect(home.remote.count == 2)
        results = nil
        home.container.credentialsChanged()
        results = home.container.results(of: home.source(lenient), start: .immediate)
        try await eventually { home.remote.count == 3 && results?.isLoading == false }
    }

    @Test("Each run of a program asks once")
    func oncePerRun() async throws {
        try await withTemporaryFolder { folder in
            let url = folder.appendingPathComponent("store.sqlite")
            let first = try Household(at: url)
            _ = try await refused(first, lenient)
            try await first.storage.close()
            let home = try Household(at: url)
            home.clock.advance(by: .seconds(400))
            home.remote.failure = Self.refusal
            let results = home.container.results(of: home.source(lenient), start: .immediate)
            #expect(results.items == [Household.chore(1)])
            #expect(results.error?.remedy.contains("isn't retried automatically") == true)
            try await eventually { home.remote.count == 1 && !results.isLoading }
            let others = home.container.results(of: home.source(lenient), start: .immediate)
            #expect(!others.isLoading)
            #expect(home.remote.count == 1)
            #expect(home.clock.sleeperCount == 0)
            try await home.storage.close()
        }
    }

    /// Columns were added to the table of sources' states.
    @Test("A store of an earlier version is read and written")
    func storeOfEarlierVersion() async throws {
        let home = try Household()
        try await home.storage.write { tx in
            try tx.execute(
                """
                CREATE TABLE query_source_state (
                  source TEXT NOT NULL, parameter TEXT NOT NULL, policy TEXT NOT NULL,
                  refreshed_at INTEGER, attempted_at INTEGER, failures INTEGER NOT NULL, error TEXT, retry_at INTEGER,
                  stale_at INTEGER, validator TEXT, position INTEGER NOT NULL, refresh TEXT NOT NULL,
                  end_position INTEGER NOT NULL, line BLOB NOT NULL,
                  PRIMARY KEY (source, parameter)
                ) WITHOUT ROWID
                """)
            try tx.execute(
                """
                INSERT INTO query_source_state VALUES (
                  'chores', '', 'networkFirst', 1000000, 1000000, 1, 'down', NULL, NULL, 'v', 0, 'r', 0, x'')
                """)
        }
        let status = try #require(try await home.storage.querySourceStatuses().first)
        #expect(status.lastRefresh == Date(timeIntervalSince1970: 1))
        #expect(status.lastError == "down")
        #expect(!status.isRefused)
        home.remote.failure = Self.refusal
        await #expect(throws: StorageError.self) { try await home.container.refresh(home.source(.networkFirst)) }
        #expect(try await home.storage.querySourceStatuses().map(\.isRefused) == [true])
        home.remote.failure = nil
        home.remote.rows = [Household.chore(1)]
        try await home.container.refresh(home.source(.networkFirst))
        #expect(try await home.storage.querySourceStatuses().map(\.isRefused) == [false])
    }
}
