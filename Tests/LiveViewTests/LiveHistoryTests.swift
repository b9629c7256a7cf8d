import Foundation
import StorageKit
import StorageTesting
import TestSupport
import Testing

@testable import StorageEntities
@testable import StorageViews

/// A row of whatever history.
@StorageEntity(table: "things")
struct Thing: Hashable {
    var id: String
    /// Many have the same.
    var kind: String?
    var size: Int
    var text: String
}

extension Thing {
    fileprivate init(_ id: String, _ row: [String: Any]) {
        let kind = ["ext", "platform", "submitter", "AdminUnit", "mode"].lazy.compactMap { row[$0] as? String }.first
        let text = row.keys.sorted().compactMap { row[$0] as? String }.joined(separator: "\n")
        let number = ["size", "numComments", "AcresBurned"].lazy.compactMap { row[$0] as? Double }.first
        self.init(id: id, kind: kind, size: number.map { Int($0) } ?? text.utf8.count, text: text)
    }
}

/// Views live through what happened to real rows, and show at each moment what a fresh query finds.
@MainActor @Suite(.serialized, .timeLimit(.minutes(30))) struct LiveHistoryTests {
    /// Off the main thread, which other tests wait for: it may run git.
    private nonisolated static func changes(of file: HistoryFile) async throws -> sending [HistoryFile.Change] {
        try file.changes(limit: max(1_000, Int(2_000 * testScale)))
    }

    @Test("Views show what fresh queries find on real histories", arguments: HistoryFile.all)
    func viewsEqualFreshQueries(file: HistoryFile) async throws {
        let changes = try await Self.changes(of: file)
        try #require(!changes.isEmpty, "The history can't be read.")
        let words = changes[changes.count / 2].id.split { !$0.isLetter && !$0.isNumber }.map(String.init)
        let (folder, storage) = try open()
        let views = Views(storage, word: words.last ?? "the")
        await views.waitForSearch()
        var reported: [Thing] = []
        var differences = views.largest.differences.makeAsyncIterator()
        var random = SplitMix64(seed: 1)
        var (next, rows): (Int, [String: [String: Any]]) = (0, [:])
        while next < changes.count {
            var receipt: CommitReceipt?
            for _ in 0..<Int.random(in: 1...12, using: &random) where next < changes.count {
                let first = next
                while next < changes.count, changes[next].transaction == changes[first].transaction { next += 1 }
                let things = changes[first..<next].map { change -> (id: String, thing: Thing?) in
                    rows[change.id] = change.row.map { (rows[change.id] ?? [:]).merging($0) { $1 } }
                    return (change.id, rows[change.id].map { Thing(change.id, $0) })
                }
                receipt = try await storage.write { tx in
                    for (id, thing) in things {
                        if let thing { try tx.save(thing) } else { try tx.delete(Thing.self, id: id) }
                    }
                }
            }
            await storage.waitForViews(through: try #require(receipt))
            try await views.compare()
        }
        #expect(views.hasFound)
        while reported != views.largest.items { try #require(await differences.next()).apply(to: &reported) }
        withExtendedLifetime(folder) {}
    }

    private func open() throws -> (TemporaryFolder, Storage) {
        let folder = try TemporaryFolder()
        let context = try StorageKit.start(at: URL(fileURLWithPath: folder.path("store.sqlite"))) {
            $0.autoSchema(ThingRecord.self)
            $0.addFullTextSearch(table: "things", columns: ["id", "text"])
        }
        return (folder, context.facade)
    }

    /// One view of each sort.
    @MainActor private final class Views {
        private let storage: Storage
        private let word: String
        private let bySize: Query<Thing>
        private let byName: Query<Thing>
        let largest: QuerySubscription<Thing>
        private let page: PaginatedQuerySubscription<Thing>
        private let large: CountSubscription<Thing>
        private let totals: GroupedAggregationSubscription<Thing, String?, (Int, Int?)>
        private let shelves: GroupedQuerySubscription<Thing, String?>
        private let search: SearchSubscription<Thing>
        /// Whether the search has ever found anything.
        private(set) var hasFound = false

        init(_ storage: Storage, word: String) {
            (self.storage, self.word) = (storage, word)
            let all = storage.query(Thing.self)
            bySize = all.orderBy(\.size, .descending).orderBy(\.id)
            byName = all.where { $0.text.contains("1") }.orderBy(\.id)
            largest = QuerySubscription(bySize.limit(20), start: .immediate)
            page = PaginatedQuerySubscription(byName, pageSize: 10, start: .immediate)
            large = CountSubscription(all.where { $0.size > 1_000 }, start: .immediate)
            totals = GroupedAggregationSubscription(all, .count, .max(\.size), groupedBy: \.kind, start: .immediate)
            shelves = GroupedQuerySubscription(
                bySize, groupBy: \.kind,
                configuration: .init(sortGroupsBy: .count(ascending: false), maxItemsPerGroup: 3), start: .immediate)
            search = SearchSubscription(all, configuration: .fullText(debounceInterval: 0, maxResults: .max))
            search.searchText = word
        }

        /// What waits for views doesn't wait for a search that hasn't begun.
        func waitForSearch() async {
            while search.isSearching, !Task.isCancelled { await Task.yield() }
        }

        func compare() async throws {
            let rows = try await storage.query(Thing.self).fetch()
            #expect(largest.items == (try await bySize.limit(20).fetch()))
            let numbered = try await byName.fetch()
            #expect(page.totalCount == numbered.count)
            #expect(page.currentPage == Array(numbered.dropFirst(page.offset).prefix(10)))
            if page.hasNextPage, rows.count % 3 == 0 { await page.goToNextPage() }
            #expect(large.count == rows.count { $0.size > 1_000 })
            let groups = Dictionary(grouping: rows, by: \.kind)
            #expect(totals.groups.count == groups.count)
            #expect(shelves.sections.count == groups.count)
            for (kind, rows) in groups {
                #expect(try #require(totals[kind]) == (rows.count, rows.map(\.size).max()))
                #expect(shelves.count(in: kind) == rows.count)
                let best = rows.sorted { ($1.size, $0.id) < ($0.size, $1.id) }.prefix(3)
                #expect(shelves.items(in: kind) == Array(best))
            }
            let found = try await storage.search(Thing.self, query: word, limit: .max).map(\.entity)
            #expect(Set(search.results) == Set(found))
            #expect(search.resultCount == found.count)
            if !found.isEmpty { hasFound = true }
        }
    }
}
