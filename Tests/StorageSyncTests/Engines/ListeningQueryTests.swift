import Foundation
import StorageSync
import TestSupport
import Testing

/// Listening to a part of a collection.
@MainActor @Suite(.timeLimit(.minutes(10))) struct ListeningQueryTests {
    private let mock = MockRemoteCollectionService(
        collection: [
            Product("a", name: "lamp", price: 1), Product("b", name: "lamp", price: 2),
            Product("c", name: "chair", price: 3),
        ], delay: .zero)

    private func lamps(_ query: QueryBuilder) -> QueryBuilder { query.where("name", isEqualTo: "lamp") }

    @Test("Only what the query finds is fetched and followed")
    func queryIsFetchedAndFollowed() async throws {
        let shop = try SyncedShop(mock: mock)
        let engine = shop.engine()
        try await engine.startListening(buildQuery: lamps)
        #expect(engine.currentCollection.map(\.id) == ["a", "b"])
        mock.change(Product("c", name: "chair", price: 4))
        mock.change(Product("d", name: "lamp", price: 5))
        mock.change(Product("e", name: "chair"))
        mock.remove(id: "b")
        try await eventually { engine.currentCollection.map(\.id) == ["a", "d"] }
        // What was outside comes in.
        mock.change(Product("e", name: "lamp"))
        try await eventually { engine.currentCollection.map(\.id) == ["a", "d", "e"] }
        #expect(mock.writes.isEmpty)
    }

    @Test("Documents outside of the query stay in the store")
    func documentsOutsideQueryStay() async throws {
        let shop = try SyncedShop(mock: mock)
        let engine = shop.engine()
        await engine.startListening()
        #expect(engine.currentCollection.count == 3)
        try await engine.startListening(buildQuery: lamps)
        #expect(engine.currentCollection.map(\.id) == ["a", "b", "c"])
        // One that leaves the query stays as what it has become; what the store has is kept up to date.
        mock.change(Product("a", name: "table", price: 8))
        mock.change(Product("c", name: "chair", price: 9))
        try await eventually {
            engine.getDocument(id: "a")?.name == "table" && engine.getDocument(id: "c")?.price == 9
        }
        #expect(mock.writes.isEmpty)
    }

    @Test("Deletions and departures are found when the query is listened to again")
    func changesWhileNotListening() async throws {
        let remote = LimitedRemote(mock, .standard)
        let container = try PersistenceContainer.inMemory { $0.autoSchema(ProductRecord.self) }
        let engine = withDatabaseContainer(container) {
            CollectionSyncEngine<Product>(remote: remote, managerKey: "products")
        }
        await engine.startListening()
        engine.stopListening(clearCaches: false)
        // Once it has stopped.
        try await engine.retryNow()
        mock.remove(id: "a")
        mock.change(Product("b", name: "table", price: 7))
        mock.change(Product("c", name: "chair", price: 9))
        try await engine.startListening(buildQuery: lamps)
        try await eventually { engine.currentCollection.map(\.id) == ["b", "c"] }
        try await eventually { engine.getDocument(id: "b") == Product("b", name: "table", price: 7) }
        // Nobody has asked for what doesn't concern the query.
        #expect(engine.getDocument(id: "c")?.price == 3)
        #expect(Set(remote.fetchedIds) == ["a", "b"])
    }

    @Test("Writes of documents outside of the query are sent and stay")
    func writesOutsideQuery() async throws {
        let shop = try SyncedShop(mock: mock)
        let engine = shop.engine()
        try await engine.startListening(buildQuery: lamps)
        try await engine.saveDocument(Product("z", name: "sofa"))
        try await engine.updateDocument(id: "c", data: ["price": 30.0])
        try await engine.settled()
        #expect(mock.collection.map(\.id) == ["a", "b", "c", "z"])
        try await engine.startListening(buildQuery: lamps)
        try await eventually { engine.currentCollection.map(\.id) == ["a", "b", "c", "z"] }
        #expect(engine.getDocument(id: "c")?.price == 30)
    }

    @Test("A remote without queries is asked for everything")
    func remoteWithoutQueries() async throws {
        let remote = LimitedRemote(mock, RemoteCapabilities.standard.subtracting(.queries))
        let engine = CollectionSyncEngine<Product>(
            remote: remote, managerKey: "products", enableLocalPersistence: false)
        try await engine.startListening(buildQuery: lamps)
        #expect(engine.currentCollection.map(\.id) == ["a", "b"])
        #expect(remote.queryCount == 0)
    }

    @Test("Listening to everything again removes what is gone")
    func listeningToEverythingAgain() async throws {
        let shop = try SyncedShop(mock: mock)
        let engine = shop.engine()
        try await engine.startListening(buildQuery: lamps)
        mock.remove(id: "a")
        await engine.startListening()
        try await eventually { engine.currentCollection.map(\.id) == ["b", "c"] }
    }

    @Test("A window can't be listened to")
    func windowsAreRefused() async throws {
        let engine = try SyncedShop(mock: mock).engine()
        for build: (QueryBuilder) -> QueryBuilder in [
            { $0.limit(to: 2) }, { $0.order(by: "price").start(at: [2]) }, { $0.order(by: "price").limit(toLast: 1) },
        ] {
            let error = await #expect(throws: StorageError.self) { try await engine.startListening(buildQuery: build) }
            #expect(error?.code == .invalidArgument)
        }
    }
}
