import Observation
import StorageEntities
import StorageKit
import StorageUI
import StorageViews
import Testing

@StorageEntity
struct Player: Hashable, Identifiable {
    var id: Int
    var name: String
    var score: Int
}

/// Live views as properties, without a screen.
@MainActor @Suite struct PropertyWrapperTests {
    @MainActor private final class Screen {
        @QuerySubscribe<Player> var best: [Player]
        @PaginatedSubscribe<Player> var all: [Player]
        @SearchSubscribe<Player> var found: [Player]

        init(_ storage: Storage) {
            _best = QuerySubscribe(
                storage.query(Player.self).where { $0.score > 10 }.orderBy(\.score, .descending), start: .immediate)
            _all = PaginatedSubscribe(
                repository: storage.repository(Player.self), pageSize: 2, start: .immediate)
            _found = SearchSubscribe(
                repository: storage.anyRepository(Player.self), searchFields: ["name"], debounceInterval: 0.01)
        }
    }

    private func open() async throws -> Storage {
        let storage = try StorageKit.inMemory { $0.autoSchema(PlayerRecord.self) }.facade
        try await storage.save((0..<5).map { Player(id: $0, name: "player \($0)", score: 5 * $0) })
        return storage
    }

    @Test("Properties follow the store")
    func propertiesFollowStore() async throws {
        let storage = try await open()
        let screen = Screen(storage)
        #expect(screen.best.map(\.id) == [4, 3])
        #expect(screen.all.map(\.id) == [0, 1])
        await storage.waitForViews(through: try await storage.save(Player(id: 9, name: "new", score: 17)))
        #expect(screen.best.map(\.id) == [4, 9, 3])
        #expect(screen.$best.position == storage.head)
        #expect(screen.$all.totalPages == 3)
        await screen.$all.goToNextPage()
        #expect(screen.all.map(\.id) == [2, 3])
    }

    @Test("A search follows its text")
    func searchFollowsText() async throws {
        let storage = try await open()
        let screen = Screen(storage)
        #expect(screen.found.isEmpty)
        screen.$found.searchText = "yer 3"
        var snapshots = screen.$found.snapshots.makeAsyncIterator()
        while let found = await snapshots.next(), found.isEmpty {}
        #expect(screen.found.map(\.id) == [3])
    }

    @Test("Nothing is read before it is needed, and nothing is left")
    func lazyReads() async throws {
        let storage = try await open()
        var screen: Screen? = Screen(storage)
        #expect(await storage.subscriptions.nodeCount == 0)
        #expect(screen?.best.count == 2)
        #expect(await storage.subscriptions.nodeCount == 1)
        weak let best = screen?.$best
        screen = nil
        #expect(best == nil)
        #expect(await storage.subscriptions.nodeCount == 0)
    }

    @Test("Properties are observable")
    func observableProperties() async throws {
        let storage = try await open()
        let screen = Screen(storage)
        try await confirmation { changed in
            withObservationTracking {
                _ = screen.best
            } onChange: {
                changed()
            }
            await storage.waitForViews(through: try await storage.save(Player(id: 9, name: "new", score: 17)))
        }
    }
}
