import Foundation
import StorageEntities
import StorageKit
import StorageSync
import StorageTesting
import TestSupport
import Testing

/// When a remote is asked only whether something is new: as long as the rows that it speaks of can't have changed here.
@MainActor @Suite struct ValidatorTests {
    private func source(
        _ home: Household, merge: QueryMergeStrategy<Chore> = .replace, priority: Int = 1
    ) -> QuerySource<Chore> {
        let action = QueryRefreshAction(merge: merge) { [remote = home.remote] in try await remote.validated($0) }
        let request: QueryRequest<Chore> = Chore.all().filter(Chore.Columns.priority == priority)
        return QuerySource(request, name: "urgent").remote(action)
    }

    /// Whether the remote is asked only for what is new, after a change of the store.
    private func isAskedForNews(
        merge: QueryMergeStrategy<Chore> = .replace, rows: [Chore] = [Household.chore(1, "a", priority: 1)],
        after change: (Household) async throws -> Void
    ) async throws -> Bool {
        let home = try Household()
        try await home.storage.save([Household.chore(8, priority: 2), Household.chore(9, priority: 2)])
        home.remote.rows = rows
        for _ in 0..<2 { try await home.container.refresh(source(home, merge: merge)) }
        try await change(home)
        try await home.container.refresh(source(home, merge: merge))
        let isAsked = home.remote.requests.last?.validator != nil
        // Whatever was asked, the remote's rows are there.
        let stored = try await home.stored()
        #expect(home.remote.rows.allSatisfy(stored.contains))
        return isAsked
    }

    @Test("Changes of other rows keep the validator")
    func changesOfOtherRows() async throws {
        for merge in [QueryMergeStrategy<Chore>.replace, .upsert, .append] {
            #expect(
                try await isAskedForNews(merge: merge) { home in
                    try await home.storage.save([
                        Household.chore(8, "edited", priority: 2), Household.chore(10, "new", priority: 3),
                    ])
                    try await home.storage.delete(Chore.self, id: 9)
                })
        }
    }

    @Test("Changes of the query's rows drop the validator")
    func changesOfMatchingRows() async throws {
        let changes: [@MainActor (Household) async throws -> Void] = [
            { try await $0.storage.save(Household.chore(1, "edited", priority: 1)) },
            // Out of the window, and into it.
            { try await $0.storage.save(Household.chore(1, "a", priority: 2)) },
            { try await $0.storage.save(Household.chore(8, priority: 1)) },
            { try await $0.storage.save(Household.chore(10, priority: 1)) },
            { try await $0.storage.delete(Chore.self, id: 1) },
            { home in
                try await home.storage.write { try $0.execute("UPDATE chores SET priority = 1 WHERE id = 9") }
            },
        ]
        for (number, change) in changes.enumerated() {
            let isAsked = try await isAskedForNews(after: change)
            #expect(!isAsked, "\(number)")
        }
    }

    /// Then the query doesn't say which rows the remote speaks of.
    @Test("Any change drops it where rows outside of the query were fetched")
    func fetchedRowsOutsideQuery() async throws {
        let rows = [Household.chore(1, priority: 1), Household.chore(2, priority: 7)]
        #expect(try await isAskedForNews(merge: .upsert, rows: rows) { _ in })
        #expect(
            try await !isAskedForNews(merge: .upsert, rows: rows) {
                try await $0.storage.save(Household.chore(2, "edited", priority: 7))
            })
    }

    @Test("A closure may depend on any row")
    func customMerge() async throws {
        let merge = QueryMergeStrategy<Chore>.custom { _, fetched in fetched }
        #expect(try await isAskedForNews(merge: merge) { _ in })
        #expect(
            try await !isAskedForNews(merge: merge) { try await $0.storage.save(Household.chore(8, "x", priority: 2)) })
    }

    /// An edit behind the request that takes the row out of the query, so that only the refresh knows of it.
    @Test("Rows that were left alone are fetched again")
    func rowsLeftAloneAreRefetched() async throws {
        let home = try Household()
        home.remote.rows = [Household.chore(1, "theirs", priority: 1)]
        home.remote.hold()
        async let refresh: Void = home.container.refresh(source(home))
        try await eventually { home.remote.count == 1 }
        try await home.storage.save(Household.chore(1, "mine", priority: 2))
        home.remote.release()
        try await refresh
        #expect(try await home.stored() == [Household.chore(1, "mine", priority: 2)])
        try await home.container.refresh(source(home))
        #expect(try await home.stored() == home.remote.rows)
    }

    @Test("Rows that changed between pages are fetched again")
    func rowsChangedBetweenPages() async throws {
        let home = try Household()
        let (storage, asked) = (home.storage, RemoteRows<String>())
        let paged = QuerySource(Household.all, name: "pages").remote(
            QueryRefreshAction { fetch in
                if let validator = fetch.validator { asked.rows.append(validator) }
                guard fetch.cursor == nil else {
                    try await storage.save(Household.chore(1, "mine"))
                    return .rows([Household.chore(2, "theirs")])
                }
                return .rows([Household.chore(1, "theirs")], next: "2", validator: "v")
            })
        for _ in 0..<2 { try await home.container.refresh(paged) }
        #expect(asked.rows.isEmpty)
    }

    @Test("A changed query is requested in full")
    func changedQuery() async throws {
        let home = try Household()
        home.remote.rows = [Household.chore(1, priority: 1)]
        try await home.container.refresh(source(home))
        try await home.storage.save(Household.chore(2, priority: 2))
        try await home.container.refresh(source(home, priority: 2))
        #expect(home.remote.requests.last?.validator == nil)
        #expect(try await home.stored() == home.remote.rows)
        try await home.container.refresh(source(home, merge: .upsert, priority: 2))
        #expect(home.remote.requests.last?.validator == nil)
    }

    /// What nobody has changed since is looked at once only, however often nothing is new.
    @Test("An answer that nothing is new counts for later changes")
    func notModified() async throws {
        let home = try Household()
        home.remote.rows = [Household.chore(1, priority: 1)]
        for number in 0..<5 {
            try await home.storage.save(Household.chore(8, "\(number)", priority: 2))
            try await home.container.refresh(source(home))
        }
        #expect(home.remote.requests.map { $0.validator != nil } == [false, true, true, true, true])
        try await home.storage.save(Household.chore(1, "mine", priority: 1))
        try await home.container.refresh(source(home))
        #expect(try await home.stored().first == Household.chore(1, priority: 1))
    }
}
