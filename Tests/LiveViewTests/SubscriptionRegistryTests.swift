import EntityTestSupport
import Foundation
import StorageKit
import StorageTesting
import Testing

@testable import StorageEntities
@testable import StorageRouting
@testable import StorageViews

/// The registry lists what lives, and keeps neither views nor their remains.
@MainActor @Suite struct SubscriptionRegistryTests {
    private func open() async throws -> Storage {
        let storage = try StorageKit.inMemory { $0.autoSchema(CardRecord.self) }.facade
        try await storage.save((0..<3).map { Card(id: $0, title: "", lane: "todo", rank: nil) })
        return storage
    }

    @Test("Dropped views aren't listed")
    func droppedViewsAreUnregistered() async throws {
        let storage = try await open()
        let registry = SubscriptionRegistry()
        let kept = QuerySubscription(storage.query(Card.self), start: .immediate)
        registry.register(kept, identifier: "kept")
        for _ in 0..<500 { registry.register(QuerySubscription(storage.query(Card.self).limit(1), start: .immediate)) }
        #expect(registry.entryCount <= 32)
        #expect(registry.activeSubscriptionCount == 1)
        #expect(registry.getMetrics().map(\.id) == ["kept"])
        #expect(registry.entryCount == 1)
        #expect(registry.subscription("kept", as: QuerySubscription<Card>.self) === kept)
        #expect(registry.subscription("kept", as: SingleQuerySubscription<Card>.self) == nil)
        #expect(await storage.subscriptions.nodeCount == 1)
        registry.unregister("kept")
        #expect(registry.subscription("kept") == nil)
        #expect(kept.isActive)
    }

    @Test("Metrics count what a view costs")
    func metricsOfViews() async throws {
        let storage = try await open()
        let registry = SubscriptionRegistry()
        let cards = QuerySubscription(storage.query(Card.self), start: .immediate)
        let before = Date()
        let id = registry.register(cards)
        for round in 0..<3 {
            await storage.waitForViews(
                through: try await storage.save(Card(id: 10 + round, title: "", lane: "", rank: 0)))
        }
        let metrics = try #require(registry.getMetrics().first)
        #expect(metrics.id == id)
        #expect(metrics.type == "QuerySubscription<Card>")
        #expect(metrics.refreshCount == 4)
        #expect(metrics.refreshCount == cards.refreshCount)
        #expect(metrics.totalRefreshTime > 0)
        #expect(metrics.averageRefreshTime * 4 == metrics.totalRefreshTime)
        #expect(metrics.lastRefreshTime == cards.lastRefreshTime)
        #expect(metrics.createdAt.timeIntervalSince(before) >= 0)
    }

    @Test("The registry explains how changes find a view")
    func routingExplanation() async throws {
        let storage = try await open()
        let registry = SubscriptionRegistry()
        let todo = QuerySubscription(storage.query(Card.self).where { $0.lane == "todo" }, start: .immediate)
        registry.register(todo, identifier: "todo")
        await storage.waitForViews(through: try await storage.save(Card(id: 7, title: "", lane: "todo", rank: 0)))
        await storage.waitForViews(through: try await storage.save(Card(id: 8, title: "", lane: "done", rank: 0)))
        let info = try #require(await registry.getDebugInfo().first)
        #expect(info.explanation?.tier == .indexed)
        #expect(info.explanation?.anchors == ["lane ="])
        #expect(info.isActive)
        #expect(!info.isLoading)
        #expect(info.error == nil)
        #expect(info.position == todo.position)
        #expect(
            info.description
                == "todo: QuerySubscription<Card> @\(todo.position), indexed by lane =, woken 1 times")
        todo.cancel()
        let ended = try #require(await registry.getDebugInfo().first)
        #expect(ended.explanation == nil)
        #expect(ended.description.hasSuffix(", ended"))
        #expect(registry.activeSubscriptionCount == 0)
    }

    @Test("The factory creates and registers views")
    func factory() async throws {
        let storage = try await open()
        let registry = SubscriptionRegistry()
        let repository = storage.anyRepository(Card.self)
        let list = SubscriptionFactory.create(
            QuerySubscription<Card>.self, repository: storage.repository(Card.self),
            query: storage.query(Card.self).limit(2),
            configuration: .immediate, identifier: "list", registry: registry)
        let page = SubscriptionFactory.create(
            PaginatedQuerySubscription<Card>.self, repository: repository,
            configuration: .init(pageSize: 1, start: .immediate), identifier: "page", registry: registry)
        let single = SubscriptionFactory.create(
            SingleQuerySubscription<Card>.self, repository: repository, configuration: .background,
            identifier: "single", registry: registry)
        let search = SubscriptionFactory.create(
            SearchSubscription<Card>.self, repository: repository, configuration: .init(searchFields: ["title"]),
            registry: nil)
        #expect(search.configuration.searchFields == ["title"])
        #expect(list.items.count == 2)
        #expect(page.currentPage.count == 1)
        #expect(page.totalPages == 3)
        #expect(single.isLoading)
        let metrics = registry.getMetrics()
        #expect(Set(metrics.map(\.id)) == ["list", "page", "single"])
        #expect(metrics.first { $0.id == "list" }?.averageRefreshTime == list.averageRefreshTime)
    }
}
