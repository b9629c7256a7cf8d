import Foundation
import StorageKit
import StorageTesting
import TestSupport
import Testing

@testable import StorageEntities
@testable import StorageRouting
@testable import StorageViews

@StorageEntity
struct Page: Hashable {
    var id: Int
    var title: String
    var body: String
    var shelf: Int
}

/// Searches that follow what is typed and what is written.
@MainActor @Suite struct LiveSearchTests {
    private func open() throws -> Storage {
        try StorageKit.inMemory { schema in
            schema.autoSchema(PageRecord.self)
            schema.addFullTextSearch(table: "pages", columns: ["title", "body"])
        }.facade
    }

    private static let words = ["alpha", "beta", "gamma", "delta", "Alphabet", "be", "öl", "x%y"]

    private func page(_ id: Int, _ generator: inout SplitMix64) -> Page {
        func text(_ count: Int) -> String {
            (0..<count).map { _ in Self.words.randomElement(using: &generator) ?? "" }.joined(separator: " ")
        }
        return Page(
            id: id, title: text(2), body: text(Int.random(in: 0..<6, using: &generator)),
            shelf: Int.random(in: 0..<3, using: &generator))
    }

    private func type<Entity>(_ text: String, into search: SearchSubscription<Entity>) async {
        search.searchText = text
        while search.isSearching { await Task.yield() }
    }

    /// A transaction of every kind, some of which are rolled back.
    private func change(_ storage: Storage, _ generator: inout SplitMix64) async throws -> CommitReceipt? {
        let id = Int.random(in: 0..<24, using: &generator)
        let other = Int.random(in: 0..<24, using: &generator)
        let page = page(id, &generator)
        let kind = Int.random(in: 0..<7, using: &generator)
        struct Cancelled: Error {}
        do {
            return try await storage.write { tx in
                switch kind {
                case 0: try tx.delete(Page.self, id: id)
                case 1:
                    try tx.save(page)
                    try tx.delete(Page.self, id: id)
                case 2:
                    try tx.delete(Page.self, id: id)
                    try tx.save(page)
                case 3: try tx.execute("UPDATE OR REPLACE pages SET id = \(other) WHERE id = \(id)")
                case 4: try tx.execute("UPDATE pages SET shelf = (shelf + 1) % 3 WHERE id % 3 = \(id % 3)")
                case 5:
                    try tx.execute("UPDATE pages SET body = upper(title) WHERE id = \(id)")
                    try tx.save(page)
                default: try tx.save(page)
                }
                if id == other { throw Cancelled() }
            }
        } catch is Cancelled {
            return nil
        }
    }

    /// After every commit a search shows what a fresh one finds, and its differences lead there.
    @Test("Live results are those of a fresh search", arguments: 1...UInt64(max(6, 6 * testScale)))
    func resultsEqualFreshSearch(seed: UInt64) async throws {
        var generator = SplitMix64(seed: seed)
        let storage = try open()
        try await storage.save((0..<20).map { page($0, &generator) })
        let texts = ["alpha be", "\"alpha beta\"", "alph*", "be NOT gamma", "öl OR \"x%y\"", "(be OR delta) alpha"]
        var searches: [SearchSubscription<Page>] = []
        for text in texts {
            searches.append(
                SearchSubscription(
                    storage.query(Page.self), configuration: .fullText(debounceInterval: 0, maxResults: 5)))
            await type(text, into: searches[searches.count - 1])
        }
        let own = SearchSubscription(
            storage.query(Page.self), configuration: .fullText(debounceInterval: 0, syntax: .fts5))
        await type("title: alpha NOT body: be", into: own)
        let filtered = SearchSubscription(
            storage.query(Page.self).where { $0.shelf == 1 }, configuration: .fullText(debounceInterval: 0))
        await type("beta", into: filtered)
        let related = SearchSubscription(
            storage.query(Page.self).has(Page.self, through: \.shelf) { $0.shelf == 1 },
            configuration: .fullText(debounceInterval: 0))
        await type("beta", into: related)
        let relatedFields = SearchSubscription(
            storage.query(Page.self).hasNo(Page.self, through: \.shelf) { $0.shelf == 1 },
            configuration: .init(searchFields: ["title"], debounceInterval: 0))
        await type("be", into: relatedFields)
        let fields = SearchSubscription(
            storage.query(Page.self).where { $0.shelf < 2 }.orderBy(\.title),
            configuration: .init(searchFields: ["title", "body"], debounceInterval: 0, maxResults: 4))
        await type("a be", into: fields)
        var rows: [SearchResult<Page>] = []
        var differences = fields.differences.makeAsyncIterator()
        try #require(await differences.next()).apply(to: &rows)
        for round in 0..<30 {
            guard let receipt = try await change(storage, &generator) else { continue }
            await storage.waitForViews(through: receipt)
            for (text, search) in zip(texts, searches) {
                // Ranks move with every document; which rows fit doesn't.
                let fresh = try await storage.search(Page.self, query: text, limit: .max).map(\.entity)
                #expect(search.resultCount == fresh.count, "seed \(seed), round \(round): \(text)")
                #expect(Set(search.results).isSubset(of: Set(fresh)), "seed \(seed), round \(round): \(text)")
                #expect(search.results.count == min(5, fresh.count))
            }
            let titles = try await storage.search(Page.self, query: "title: alpha NOT body: be", syntax: .fts5)
            #expect(Set(own.results) == Set(titles.map(\.entity)))
            #expect(own.resultCount == titles.count)
            let beta = try await storage.search(Page.self, query: "beta", limit: .max).map(\.entity)
            #expect(Set(filtered.results) == Set(beta.filter { $0.shelf == 1 }))
            let shelves = Set(try await storage.query(Page.self).where { $0.shelf == 1 }.fetch().map(\.id))
            #expect(Set(related.results) == Set(beta.filter { shelves.contains($0.shelf) }))
            #expect(related.resultCount == related.results.count)
            let titled = try await storage.query(Page.self).where { $0.title.contains("be") }.fetch()
            #expect(Set(relatedFields.results) == Set(titled.filter { !shelves.contains($0.shelf) }))
            let wanted = try await storage.query(Page.self)
                .where { $0.shelf < 2 && ($0.title.contains("a") || $0.body.contains("a")) }
                .where { $0.title.contains("be") || $0.body.contains("be") }.orderBy(\.title).fetch()
            #expect(fields.results == Array(wanted.prefix(4)))
            #expect(fields.resultCount == wanted.count)
        }
        await searches[0].refresh()
        #expect(searches[0].hits == (try await storage.search(Page.self, query: texts[0], limit: 5)))
        // What has accumulated meanwhile is one update.
        while rows != fields.hits { try #require(await differences.next()).apply(to: &rows) }
    }

    @Test("Only the last text is searched for")
    func debouncing() async throws {
        let storage = try open()
        try await storage.save(Page(id: 1, title: "alpha", body: "", shelf: 0))
        let search = SearchSubscription(storage.query(Page.self), configuration: .fullText(debounceInterval: 0.5))
        search.searchText = "a"
        #expect(!search.isSearching)
        for text in ["al", "alp", "alph", "alpha"] {
            search.searchText = text
            #expect(search.isSearching)
            #expect(search.results.isEmpty)
        }
        try await eventually { !search.isSearching }
        #expect(search.results.map(\.id) == [1])
        #expect(search.resultCount == 1)
        #expect(search.searchDuration > 0)
        #expect(await storage.subscriptions.nodeCount == 1)
        search.clearSearch()
        #expect(search.results.isEmpty)
        #expect(!search.hasNoResults)
        // It has stayed live meanwhile.
        await storage.waitForViews(through: try await storage.save(Page(id: 2, title: "alpha too", body: "", shelf: 0)))
        search.searchText = "alpha"
        #expect(!search.isSearching)
        #expect(Set(search.results.map(\.id)) == [1, 2])
        await type("nothing", into: search)
        #expect(search.hasNoResults)
    }

    /// A row is looked up among searches by its words: those that it doesn't fit cost nothing.
    @Test("A change that doesn't match costs searches nothing")
    func unrelatedChangeIsFree() async throws {
        let storage = try open()
        try await storage.save((0..<200).map { Page(id: $0, title: "alpha \($0)", body: "beta", shelf: 0) })
        var searches: [SearchSubscription<Page>] = []
        for text in ["alpha", "alpha 1*", "\"alpha 10\"", "nothing OR alpha", "alpha NOT 7"] {
            searches.append(
                SearchSubscription(storage.query(Page.self), configuration: .fullText(debounceInterval: 0)))
            await type(text, into: searches[searches.count - 1])
        }
        let counts = searches.map(\.resultCount)
        #expect(counts == [200, 111, 1, 200, 199])
        let before = await storage.subscriptions.counters
        for id in 300..<320 {
            await storage.waitForViews(
                through: try await storage.save(Page(id: id, title: "beta", body: "1", shelf: 0)))
        }
        let after = await storage.subscriptions.counters
        #expect(after.statements == before.statements)
        #expect(after.wakeups == before.wakeups)
        #expect(after.router.evaluations == before.router.evaluations)
        #expect(searches.map(\.resultCount) == counts)
        #expect(await searches[0].explain()?.tier == .indexed)
    }

    /// A row whose texts are the same keeps its rank: its new state is put in the place of the old one.
    @Test("Other columns of a result are updated in place")
    func resultsUpdatedInPlace() async throws {
        let storage = try open()
        try await storage.save((0..<20).map { Page(id: $0, title: "alpha \($0)", body: "", shelf: 0) })
        let search = SearchSubscription(storage.query(Page.self), configuration: .fullText(debounceInterval: 0))
        await type("alpha", into: search)
        var rows: [SearchResult<Page>] = []
        var differences = search.differences.makeAsyncIterator()
        try #require(await differences.next()).apply(to: &rows)
        let page = Page(id: 7, title: "alpha 7", body: "", shelf: 3)
        await storage.waitForViews(through: try await storage.save(page))
        let difference = try #require(await differences.next())
        #expect(difference.whole == nil)
        #expect(difference.changes.count == 1)
        difference.apply(to: &rows)
        #expect(rows == search.hits)
        #expect(search.results.contains(page))
    }

    @Test("Searches that a row comes into at once each mark their own words")
    func ownMarks() async throws {
        let storage = try open()
        let searches = [
            SearchSubscription(
                storage.query(Page.self),
                configuration: .init(searchFields: ["title"], debounceInterval: 0, highlightMatches: true)),
            SearchSubscription(
                storage.query(Page.self),
                configuration: .init(searchFields: ["title"], debounceInterval: 0, highlightMatches: true)),
        ]
        for (search, text) in zip(searches, ["alpha", "beta"]) { await type(text, into: search) }
        let receipt = try await storage.save(Page(id: 1, title: "alpha beta", body: "", shelf: 0))
        await storage.waitForViews(through: receipt)
        #expect(searches[0].hits.map(\.snippet) == ["<b>alpha</b> beta"])
        #expect(searches[1].hits.map(\.snippet) == ["alpha <b>beta</b>"])
    }

    @Test("Fields are searched as the configuration says")
    func searchConfiguration() async throws {
        let storage = try open()
        try await storage.save([
            Page(id: 1, title: "Swift Concurrency", body: "actors", shelf: 0),
            Page(id: 2, title: "swift", body: "100% Swift", shelf: 0),
        ])
        func search(_ change: (inout SearchSubscription<Page>.Configuration) -> Void, _ text: String) async -> [Int] {
            var configuration = SearchSubscription<Page>.Configuration(
                searchFields: ["title", "body"], debounceInterval: 0, highlightMatches: true)
            change(&configuration)
            let search = SearchSubscription(storage.query(Page.self), configuration: configuration)
            await type(text, into: search)
            return search.results.map(\.id)
        }
        #expect(await search({ _ in }, "SWIFT") == [1, 2])
        #expect(await search({ $0.caseSensitive = true }, "swift") == [2])
        #expect(await search({ $0.exactMatch = true }, "Swift") == [2])
        #expect(
            await search(
                {
                    $0.exactMatch = true; $0.caseSensitive = true
                }, "Swift"
            ).isEmpty)
        #expect(await search({ _ in }, "0%") == [2])
        #expect(await search({ $0.minSearchLength = 5 }, "act") == [])
        let marked = SearchSubscription(
            storage.query(Page.self),
            configuration: .init(searchFields: ["title"], debounceInterval: 0, highlightMatches: true))
        await type("swi con", into: marked)
        #expect(marked.hits.map(\.snippet) == ["<b>Swi</b>ft <b>Con</b>currency"])
        let wrong = SearchSubscription(
            storage.query(Page.self), configuration: .init(searchFields: ["none"], debounceInterval: 0))
        await type("xx", into: wrong)
        #expect(wrong.error?.code == .invalidName)
        let query = SearchSubscription(
            storage.query(Page.self), configuration: .fullText(debounceInterval: 0, syntax: .fts5))
        await type("AND AND", into: query)
        #expect(query.error?.code == .invalidQuery)
        #expect(!query.isSearching)
        await type("actors", into: query)
        #expect(query.error == nil)
        #expect(query.results.map(\.id) == [1])
    }

    @Test("Texts of the same letters and other bytes are searches of their own")
    func equivalentTexts() async throws {
        let storage = try open()
        let texts = ["caf\u{e9}", "cafe\u{301}"]
        try await storage.save(texts.enumerated().map { Page(id: $0.offset, title: $0.element, body: "", shelf: 0) })
        let search = SearchSubscription(
            storage.query(Page.self), configuration: .init(searchFields: ["title"], debounceInterval: 0))
        // The last one is among the recent texts that stay live.
        for id in [0, 1, 0] {
            await type(texts[id], into: search)
            #expect(search.searchText.utf8.elementsEqual(texts[id].utf8))
            #expect(search.results.map(\.id) == [id])
        }
    }

    @Test("A search without text ends with its store", .timeLimit(.minutes(10)))
    func searchWithoutTextEnds() async throws {
        let storage = try open()
        let search = SearchSubscription(storage.query(Page.self), configuration: .fullText(debounceInterval: 0))
        let snapshots = search.snapshots
        let reading = Task {
            var count = 0
            for await _ in snapshots { count += 1 }
            return count
        }
        try await storage.close()
        #expect(await reading.value == 0)
        #expect(!search.isActive)
        search.searchText = "alpha"
        #expect(!search.isSearching)
        #expect(search.results.isEmpty)
        let late = SearchSubscription(storage.query(Page.self), configuration: .fullText(debounceInterval: 0))
        for await _ in late.snapshots {}
        #expect(!late.isActive)
    }

    @Test("A search continues if the task that reloads it is cancelled")
    func cancelledReload() async throws {
        let storage = try open()
        try await storage.save(Page(id: 1, title: "alpha", body: "", shelf: 0))
        let search = SearchSubscription(storage.query(Page.self), configuration: .fullText(debounceInterval: 0))
        await type("alpha", into: search)
        let reloading = Task { await search.refresh() }
        reloading.cancel()
        await reloading.value
        #expect(search.error == nil)
        #expect(search.results.map(\.id) == [1])
        await storage.waitForViews(through: try await storage.save(Page(id: 2, title: "alpha", body: "", shelf: 0)))
        #expect(Set(search.results.map(\.id)) == [1, 2])
    }

    /// A row that can't be read makes a search fail; once it can be, the search continues by itself.
    @Test("A failed search is retried", .timeLimit(.minutes(10)), arguments: [true, false])
    func failedSearchIsRetried(isFullText: Bool) async throws {
        let storage = try open()
        try await storage.save([
            Page(id: 1, title: "alpha", body: "", shelf: 0), Page(id: 2, title: "beta", body: "", shelf: 0),
        ])
        let search = SearchSubscription(
            storage.query(Page.self),
            configuration: isFullText
                ? .fullText(debounceInterval: 0) : .init(searchFields: ["title"], debounceInterval: 0))
        await type("alpha", into: search)
        #expect(search.results.map(\.id) == [1])
        #expect(search.error == nil)
        try await storage.write { try $0.execute("UPDATE pages SET shelf = 'none' WHERE id = 2") }
        await type("beta", into: search)
        #expect(search.error?.code == .invalidValue)
        // Nothing of the other text is shown under this one.
        #expect(search.results.isEmpty)
        #expect(search.resultCount == 0)
        #expect(!search.hasNoResults)
        var snapshots = search.snapshots.makeAsyncIterator()
        try await storage.write { try $0.execute("UPDATE pages SET shelf = 3 WHERE id = 2") }
        while search.results.isEmpty { _ = await snapshots.next() }
        #expect(search.results.map(\.shelf) == [3])
        #expect(search.error == nil)
        #expect(search.resultCount == 1)
    }
}
