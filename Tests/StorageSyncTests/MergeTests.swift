import Foundation
import StorageEntities
import StorageKit
import StorageSync
import StorageTesting
import TestSupport
import Testing

/// What refreshes make of the store's rows.
@MainActor @Suite struct MergeTests {
    private func chore(_ id: Int, _ title: String = "", priority: Int = 0) -> Chore {
        Chore(id: id, title: title, priority: priority)
    }

    @Test("Fetched rows are a commit that names its source")
    func fetchedRowsAreACommit() async throws {
        let home = try Household()
        home.remote.rows = [chore(1, "sweep"), chore(2, "cook")]
        try await home.container.refresh(home.source(.staleWhileRevalidate(staleAfter: .minutes(5))))
        #expect(try await home.stored() == home.remote.rows)
        let version = try #require(try await home.storage.history(Chore.self, id: 1).last)
        #expect(version.commit.metadata.actor == "chores")
        #expect(version.commit.metadata.reason == "staleWhileRevalidate(staleAfter: 300 s)")
    }

    @Test("Unchanged rows leave nothing in the log")
    func unchangedRowsLogNothing() async throws {
        let home = try Household()
        home.remote.rows = [chore(1)]
        let source = home.source(.networkFirst)
        try await home.container.refresh(source)
        let head = home.storage.head
        home.clock.advance(by: .seconds(60))
        try await home.container.refresh(source)
        #expect(home.storage.head == head)
        let status = try #require(try await home.storage.querySourceStatuses().first)
        #expect(status.lastRefresh == home.clock.now)
    }

    @Test("Merge strategies decide what becomes of rows")
    func mergeStrategies() async throws {
        func merged(_ strategy: QueryMergeStrategy<Chore>) async throws -> [Chore] {
            let home = try Household()
            try await home.storage.save([chore(1, "old"), chore(2, "old")])
            home.remote.rows = [chore(2, "new"), chore(3, "new")]
            try await home.container.refresh(home.source(.networkFirst, merge: strategy))
            return try await home.stored()
        }
        #expect(try await merged(.replace) == [chore(2, "new"), chore(3, "new")])
        #expect(try await merged(.upsert) == [chore(1, "old"), chore(2, "new"), chore(3, "new")])
        #expect(try await merged(.append) == [chore(1, "old"), chore(2, "old"), chore(3, "new")])
        let custom = try await merged(
            .custom { stored, fetched in
                stored.map { Chore(id: $0.id, title: "\($0.title)+\(fetched.title)", priority: 0) }
            })
        #expect(custom == [chore(1, "old"), chore(2, "old+new")])
    }

    /// A remote that was asked for ten rows says nothing of the eleventh.
    @Test("A limit bounds what is deleted")
    func limitBoundsDeletions() async throws {
        let home = try Household()
        try await home.storage.save((1...10).map { chore($0, "local") })
        var query = home.storage.query(Chore.self).orderBy(\.id).limit(3)
        let limited = QuerySource(query.request, name: "first").remote { [remote = home.remote] in
            try await remote.all()
        }
        home.remote.rows = [chore(2), chore(4), chore(6)]
        try await home.container.refresh(limited)
        #expect(try await home.stored().map(\.id) == [2, 4, 6, 7, 8, 9, 10])
        // Fewer than were asked for: there are no others.
        home.remote.rows = [chore(2), chore(4)]
        try await home.container.refresh(limited)
        #expect(try await home.stored().map(\.id) == [2, 4])
        // A window in the middle says nothing of what lies before it either.
        try await home.storage.save((1...10).map { chore($0, "local") })
        query = query.offset(2)
        home.remote.rows = [chore(4), chore(6), chore(8)]
        try await home.container.refresh(
            QuerySource(query.request, name: "middle").remote { [remote = home.remote] in try await remote.all() })
        #expect(try await home.stored().map(\.id) == [1, 2, 3, 4, 6, 8, 9, 10])
    }

    @Test("Only rows of the query are deleted")
    func deletesWithinQueryOnly() async throws {
        let home = try Household()
        try await home.storage.save([chore(1, priority: 1), chore(2, priority: 1), chore(3, priority: 2)])
        home.remote.rows = [chore(2, priority: 1)]
        let urgent = home.storage.query(Chore.self).where { $0.priority == 1 }.request
        try await home.container.refresh(
            QuerySource(urgent).remote { [remote = home.remote] in try await remote.all() })
        #expect(try await home.stored().map(\.id) == [2, 3])
    }

    /// The answer may be older than what was changed while it was on its way.
    @Test("Rows that changed meanwhile stay")
    func rowsChangedMeanwhile() async throws {
        let home = try Household()
        let source = home.source(.networkFirst)
        home.remote.rows = (1...5).map { chore($0, "first") }
        try await home.container.refresh(source)
        home.remote.rows = [chore(1, "second"), chore(2, "second"), chore(3, "second"), chore(6, "second")]
        home.remote.hold()
        async let refresh: Void = home.container.refresh(source)
        try await eventually { home.remote.count == 2 }
        try await home.storage.save(chore(1, "mine"))
        try await home.storage.delete(Chore.self, id: 2)
        try await home.storage.save(chore(4, "mine"))
        try await home.storage.save(chore(6, "mine"))
        try await home.storage.delete(Chore.self, id: 6)
        home.remote.release()
        try await refresh
        #expect(try await home.stored() == [chore(1, "mine"), chore(3, "second"), chore(4, "mine")])
        // The next answer is younger than they are.
        try await home.container.refresh(source)
        #expect(try await home.stored() == home.remote.rows)
    }

    @Test("Pages are commits, and deletions come with the last")
    func pagesAreCommits() async throws {
        let home = try Household()
        try await home.storage.save(chore(9, "gone"))
        home.remote.rows = (1...5).map { chore($0, "new") }
        let source = QuerySource(Household.all, name: "pages").remote(
            QueryRefreshAction { [remote = home.remote] in try await remote.page($0, size: 2) })
        let head = home.storage.head
        try await home.container.refresh(source)
        #expect(try await home.stored() == home.remote.rows)
        let page = try await home.storage.changes(since: .position(head), limit: 100)
        #expect(page.commits.map { $0.events.count } == [2, 2, 2])
        #expect(page.commits.last?.events.map(\.operation) == [.insert, .delete])
        #expect(Set(page.commits.map(\.commit.metadata.correlation)).count == 1)
        #expect(home.remote.requests.map(\.cursor) == [nil, "2", "4"])
    }

    @Test("A refresh that fails between pages deletes nothing")
    func failureBetweenPages() async throws {
        let home = try Household()
        try await home.storage.save(chore(9, "stays"))
        let source = QuerySource(Household.all, name: "pages").remote(
            QueryRefreshAction { fetch in
                guard fetch.cursor == nil else { throw FakeRemote.Failure() }
                return .rows([Chore(id: 1, title: "", priority: 0)], next: "2")
            })
        await #expect(throws: StorageError.self) { try await home.container.refresh(source) }
        #expect(try await home.stored().map(\.id) == [1, 9])
        let status = try #require(try await home.storage.querySourceStatuses().first)
        #expect(status.lastRefresh == nil)
        #expect(status.failures == 1)
    }

    @Test("A remote whose pages never end is an error", arguments: [["again"], ["a", "b"], ["a", "b", "c"]])
    func endlessPages(circle: [String]) async throws {
        let home = try Household()
        let source = QuerySource(Household.all, name: "pages").remote(
            QueryRefreshAction { fetch in
                let place = fetch.cursor.flatMap { circle.firstIndex(of: $0) } ?? -1
                return .rows([], next: circle[(place + 1) % circle.count])
            })
        let error = await #expect(throws: StorageError.self) { try await home.container.refresh(source) }
        #expect(error?.code == .remoteFailed)
        #expect(error?.message.contains("form a cycle") == true)
    }

    /// A validator is given back as long as the rows are what the answer made of them.
    @Test("Validators are for unchanged rows only")
    func validatorsOfUnchangedRows() async throws {
        let home = try Household()
        let source = QuerySource(Household.all, name: "validated").remote(
            QueryRefreshAction { [remote = home.remote] in try await remote.validated($0) })
        home.remote.rows = [chore(1, "a"), chore(2, "b")]
        for _ in 0..<3 { try await home.container.refresh(source) }
        #expect(home.remote.requests.map { $0.validator != nil } == [false, true, true])
        try await home.storage.save(chore(1, "mine"))
        try await home.container.refresh(source)
        #expect(home.remote.requests.last?.validator == nil)
        #expect(try await home.stored() == home.remote.rows)
        try await home.container.refresh(source)
        #expect(home.remote.requests.last?.validator != nil)
    }

    @Test("A remote isn't asked for a store that is open for reading")
    func readOnlyStore() async throws {
        let folder = try TemporaryFolder()
        let url = folder.url.appendingPathComponent("store.sqlite")
        let home = try Household(at: url)
        home.remote.rows = [chore(1)]
        try await home.container.refresh(home.source(.networkFirst))
        let configuration = StorageConfig(isReadOnly: true)
        let reader = try PersistenceContainer.file(at: url, config: configuration)
        let results = reader.results(of: home.source(.networkFirst), start: .immediate)
        try await eventually { results.error != nil }
        #expect(results.error?.code == .readOnly)
        #expect(results.items == [chore(1)])
        #expect(home.remote.count == 1)
        // What the writer fetches is seen.
        home.remote.rows = [chore(1), chore(2)]
        try await home.container.refresh(home.source(.networkFirst))
        try await eventually { results.items.count == 2 }
        try await reader.storage.close()
        try await home.storage.close()
    }

    /// Nor where the writer's request has failed.
    @Test("Nor after the writer's request has failed")
    func readOnlyStoreAfterFailure() async throws {
        let folder = try TemporaryFolder()
        let url = folder.url.appendingPathComponent("store.sqlite")
        let home = try Household(at: url)
        home.remote.failure = FakeRemote.Failure()
        let source = home.source(.networkFirst)
        await #expect(throws: StorageError.self) { try await home.container.refresh(source) }
        try await eventually { home.clock.sleeperCount == 0 }
        let reader = try PersistenceContainer.file(at: url, config: .init(isReadOnly: true, clock: home.clock))
        let results = reader.results(of: source, start: .immediate)
        try await eventually { results.status?.failures == 1 && home.clock.sleeperCount == 1 }
        home.clock.advance(by: .seconds(120))
        await results.refresh()
        #expect(results.error?.code == .readOnly)
        #expect(!results.isLoading)
        #expect(home.clock.sleeperCount == 0)
        #expect(home.remote.count == 1)
        try await reader.storage.close()
        try await home.storage.close()
    }
}
