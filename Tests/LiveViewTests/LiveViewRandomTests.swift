import EntityTestSupport
import Foundation
import StorageKit
import TestSupport
import Testing

@testable import StorageEntities
@testable import StorageViews

/// Views as users hold them, made, moved, read again, given up and closed at random while others write: what is left of them
/// shows in the end what a fresh query finds, and ends with the store.
///
/// The seed brings back what is done, not how it falls together with the commits.
@MainActor @Suite(.timeLimit(.minutes(10))) struct LiveViewRandomTests {
    /// A view, what is wrong with it once nothing happens any more, what holds of it at any time, and what can be done to it.
    private struct Watched {
        let view: StorageSubscription
        let name: String
        let fault: @MainActor () async throws -> String?
        var isSound: @MainActor () -> Bool = { true }
        var move: @MainActor (inout SplitMix64) async -> Void = { _ in }
    }

    @Test("Views show what fresh queries find", arguments: testSeeds(2))
    func viewsEqualFreshQueries(seed: UInt64) async throws {
        var generator = SplitMix64(seed: seed)
        let storage = try StorageKit.inMemory { $0.autoSchema(CardRecord.self) }.facade
        try await storage.save((0..<30).map { Self.card($0, &generator) })
        let writing = Task.detached { try await Self.write(to: storage, seed: seed &+ 1) }
        var views: [Watched] = []
        var tasks: [Task<Void, Never>] = []
        for _ in 0..<80 {
            let view = views.randomElement(using: &generator)
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<4: views.append(make(storage, &generator))
            case 4, 5: await view?.move(&generator)
            case 6: if let view { tasks.append(Task { await view.view.refresh() }) }
            case 7: await view?.view.refresh()
            case 8 where views.count > 4: views.remove(at: Int.random(in: 0..<views.count, using: &generator))
            default: view?.view.cancel()
            }
            views.removeAll { !$0.view.isActive }
            for view in views { #expect(view.isSound(), "STORAGEKIT_SEED=\(seed) \(view.name)") }
            for _ in 0..<Int.random(in: 0..<4, using: &generator) { await Task.yield() }
        }
        for task in tasks { await task.value }
        writing.cancel()
        await #expect(throws: CancellationError.self) { try await writing.value }
        // Few are left, so that pages have gone.
        let receipt = try await storage.write { try $0.execute("DELETE FROM cards WHERE id > 4") }
        for view in views { while view.view.isLoading { await Task.yield() } }
        await storage.waitForViews(through: receipt)
        for view in views {
            let fault = try await view.fault()
            #expect(fault == nil, "STORAGEKIT_SEED=\(seed) \(view.name): \(fault ?? "error")")
            #expect(view.view.error == nil, "STORAGEKIT_SEED=\(seed) \(view.name): \(fault ?? "error")")
        }
        try await storage.close()
        for view in views { while view.view.isActive { await Task.yield() } }
    }

    // MARK: Writing

    private nonisolated static func card(_ id: Int, _ generator: inout SplitMix64) -> Card {
        Card(
            id: id, title: "\(["a", "b", "ab"].randomElement(using: &generator) ?? "")\(generator.next() % 4)",
            lane: ["todo", "done"].randomElement(using: &generator) ?? "",
            rank: generator.next() % 3 == 0 ? nil : Double(generator.next() % 5))
    }

    private nonisolated static func write(to storage: Storage, seed: UInt64) async throws {
        var generator = SplitMix64(seed: seed)
        while true {
            let (id, count) = (Int.random(in: 0..<40, using: &generator), Int.random(in: 1...12, using: &generator))
            switch Int.random(in: 0..<8, using: &generator) {
            case 0: try await storage.write { try $0.execute("DELETE FROM cards WHERE id >= \(id)") }
            case 1: try await storage.write { try $0.execute("UPDATE cards SET rank = id % 5 WHERE id > \(id)") }
            case 2:
                try await storage.write { try $0.execute("UPDATE OR REPLACE cards SET id = \(count) WHERE id = \(id)") }
            case 3, 4: try await storage.delete(Card.self, id: id)
            default:
                let cards = (id..<id + count).map { card($0, &generator) }
                try await storage.save(cards)
            }
            await Task.yield()
        }
    }

    // MARK: Views

    private func make(_ storage: Storage, _ generator: inout SplitMix64) -> Watched {
        let start: SubscriptionStart = Bool.random(using: &generator) ? .immediate : .background
        var query = storage.query(Card.self)
        if Bool.random(using: &generator) { query = query.where { $0.lane == "todo" } }
        query = query.orderBy(\.rank, Bool.random(using: &generator) ? .ascending : .descending).orderBy(\.id)
        switch Int.random(in: 0..<7, using: &generator) {
        case 0, 1: return page(query, start, &generator)
        case 2: return list(query.limit(Int.random(in: 1..<9, using: &generator)), start)
        case 3: return groups(query, start)
        case 4: return totals(query, start)
        case 5: return search(query, &generator)
        default: return list(query, start)
        }
    }

    private func list(_ query: Query<Card>, _ start: SubscriptionStart) -> Watched {
        let list = QuerySubscription(query, start: start)
        return Watched(view: list, name: "list") {
            let fresh = try await query.fetch()
            return list.items == fresh ? nil : "\(list.items.map(\.id)) and not \(fresh.map(\.id))"
        } isSound: {
            Set(list.items.map(\.id)).count == list.items.count
        }
    }

    private func page(
        _ query: Query<Card>, _ start: SubscriptionStart, _ generator: inout SplitMix64
    ) -> Watched {
        let styles: [PaginatedQuerySubscription<Card>.Style] = [.numbered, .anchored, .scrolling]
        let style = styles.randomElement(using: &generator) ?? .numbered
        let size = Int.random(in: 1...6, using: &generator)
        let page = PaginatedQuerySubscription(query, pageSize: size, style: style, start: start)
        return Watched(view: page, name: "page \(style)") {
            let all = try await query.fetch()
            let shown = page.currentPage
            let count = style == .scrolling ? shown.count : size
            let wanted = Array(all.dropFirst(page.offset).prefix(count))
            if page.totalCount == all.count, shown == wanted, shown.isEmpty == all.isEmpty { return nil }
            return "\(shown.map(\.id)) from \(page.offset) of \(page.totalCount) and not of \(all.map(\.id))"
        } isSound: {
            page.currentPage.isEmpty == (page.totalCount == 0)
        } move: { generator in
            switch Int.random(in: 0..<3, using: &generator) {
            case 0: await page.goToNextPage()
            case 1: await page.goToPreviousPage()
            default: await page.goToPage(Int.random(in: 0..<9, using: &generator))
            }
        }
    }

    private func groups(_ query: Query<Card>, _ start: SubscriptionStart) -> Watched {
        let groups = GroupedQuerySubscription(
            query, groupBy: \.title, configuration: .init(sortGroupsBy: .key(), maxItemsPerGroup: 2), start: start)
        return Watched(view: groups, name: "groups") {
            let fresh = Dictionary(grouping: try await query.fetch(), by: \.title)
            let wanted = fresh.keys.sorted().map { key in
                GroupSection(
                    key: key, items: Array(fresh[key, default: []].prefix(2)), count: fresh[key, default: []].count)
            }
            return groups.sections == wanted ? nil : "\(groups.sections) and not \(wanted)"
        }
    }

    private func totals(_ query: Query<Card>, _ start: SubscriptionStart) -> Watched {
        let totals = GroupedAggregationSubscription(query, .count, .max(\.rank), groupedBy: \.lane, start: start)
        return Watched(view: totals, name: "totals") {
            let fresh = Dictionary(grouping: try await query.fetch(), by: \.lane)
            let wanted = fresh.keys.sorted().map { key in
                "\(key) \(fresh[key, default: []].count) \(fresh[key, default: []].compactMap(\.rank).max() ?? -1)"
            }
            let shown = totals.groups.map { "\($0.key) \($0.value.0) \(($0.value.1 ?? nil) ?? -1)" }
            return shown == wanted ? nil : "\(shown) and not \(wanted)"
        }
    }

    private func search(_ query: Query<Card>, _ generator: inout SplitMix64) -> Watched {
        let texts = ["a", "b", "ab", "b1", ""]
        let search = SearchSubscription(
            query,
            configuration: .init(searchFields: ["title"], debounceInterval: 0, minSearchLength: 1, cachedSearches: 2))
        search.searchText = texts.randomElement(using: &generator) ?? ""
        return Watched(view: search, name: "search") {
            let text = search.searchText
            while search.isSearching { await Task.yield() }
            let all = try await query.fetch()
            let fresh = all.filter { !text.isEmpty && $0.title.contains(text) }
            return search.results == fresh && search.resultCount == fresh.count
                ? nil : "\(text): \(search.results.map(\.id)) and not \(fresh.map(\.id))"
        } move: { generator in
            search.searchText = texts.randomElement(using: &generator) ?? ""
        }
    }
}
