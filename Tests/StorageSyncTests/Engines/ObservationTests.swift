import Foundation
import Observation
import StorageSync
import Synchronization
import TestSupport
import Testing

/// Observers of an engine, or of a manager that wraps one, are notified of each change, on the main actor.
@MainActor @Suite(.timeLimit(.minutes(10))) struct ObservationTests {
    /// Reads something whenever it changes, as a view does.
    @MainActor private final class Observer<Value> {
        private(set) var last: Value?
        private(set) var changes = 0
        private let read: @MainActor () -> Value

        init(_ read: @escaping @MainActor () -> Value) {
            self.read = read
            look()
        }

        private func look() {
            last = withObservationTracking {
                read()
            } onChange: { [weak self] in
                // Ends the process where it isn't so.
                MainActor.assumeIsolated { self?.note() }
            }
        }

        private func note() {
            changes += 1
            // What it becomes can be read in the next turn.
            Task { look() }
        }
    }

    @Test("A collection is observable")
    func observingCollection() async throws {
        let shop = try SyncedShop([Product("a")])
        let engine = shop.engine()
        let manager = ShopManager(productsSyncEngine: engine)
        let collection = Observer { engine.currentCollection }
        let pending = Observer { engine.pendingCount }
        let parked = Observer { engine.parked.map(\.documentId) }
        let status = Observer { engine.status }
        let products = Observer { manager.products }
        let refusals = Observer { manager.refusals }
        #expect(collection.last == [])
        #expect(pending.last == 0)
        #expect(parked.last == [])
        #expect(status.last?.connection == .idle)

        await engine.startListening()
        try await eventually { status.last?.connection == .connected }
        try await eventually { collection.last == [Product("a")] && products.last == [Product("a")] }
        shop.mock.change(Product("a", name: "new"))
        try await eventually { collection.last?.first?.name == "new" && products.last?.first?.name == "new" }

        shop.remote.errors["b"] = RemoteError.rejected("no")
        try await engine.saveDocument(Product("b"))
        try await eventually { collection.last?.map(\.id) == ["a", "b"] && products.last?.map(\.id) == ["a", "b"] }
        try await eventually { pending.last == 1 && parked.last == ["b"] && refusals.last == ["no"] }
        try await eventually { status.last == engine.status }
        try await engine.discard(try #require(engine.parked.first))
        try await eventually { pending.last == 0 && parked.last == [] && refusals.last == [] }
        try await eventually { collection.last?.map(\.id) == ["a"] && products.last?.map(\.id) == ["a"] }

        engine.stopListening()
        try await eventually { collection.last == [] && products.last == [] }
    }

    @Test("A document is observable")
    func observingDocument() async throws {
        let mock = MockRemoteDocumentService(document: Profile(id: "1", name: "Anna"), delay: .zero)
        let engine = withDatabaseContainer(try PersistenceContainer.inMemory()) {
            DocumentSyncEngine<Profile>(remote: mock, managerKey: "user")
        }
        let manager = UserManager(userSyncEngine: engine)
        let document = Observer { engine.currentDocument }
        let user = Observer { manager.currentUser }
        let pending = Observer { engine.pendingCount }
        let parked = Observer { engine.parked.map(\.documentId) }
        let status = Observer { engine.status.connection }
        #expect(pending.last == 0)
        #expect(parked.last == [])
        #expect(status.last == .idle)
        #expect(user.changes == 0)

        try await engine.startListening(documentId: "1")
        try await eventually { document.last??.name == "Anna" && user.last??.name == "Anna" }
        try await eventually { status.last == .connected }
        mock.change(Profile(id: "1", name: "Anne"))
        try await eventually { document.last??.name == "Anne" && user.last??.name == "Anne" }

        engine.stopListening(clearCaches: false)
        try await eventually { mock.listenerCount == 0 }
        mock.failure = RemoteError.rejected("no")
        try await engine.updateDocument(data: ["name": "John"])
        try await eventually { document.last??.name == "John" && user.last??.name == "John" }
        try await eventually { pending.last == 1 && parked.last == ["1"] }
        mock.failure = nil
        try await engine.retry(try #require(engine.parked.first))
        try await eventually { pending.last == 0 && parked.last == [] }
        #expect(mock.documents.map(\.name) == ["John"])
    }

    @Test("Receiving and sending leave the main actor free")
    func mainActorStaysFree() async throws {
        let turns = Task {
            while !Task.isCancelled {
                Weight.turns.withLock { $0 += 1 }
                try? await Task.sleep(for: .milliseconds(1))
            }
        }
        defer { turns.cancel() }
        let mock = MockRemoteCollectionService(collection: [HeavyItem(id: "a"), HeavyItem(id: "b")], delay: .zero)
        let engine = withDatabaseContainer(try PersistenceContainer.inMemory()) {
            CollectionSyncEngine<HeavyItem>(remote: mock, managerKey: "items")
        }
        await engine.startListening()
        #expect(engine.currentCollection.map(\.id) == ["a", "b"])
        mock.change(HeavyItem(id: "c"))
        try await eventually { engine.currentCollection.count == 3 }
        try await engine.saveDocument(HeavyItem(id: "d")).confirmed()
        #expect(mock.collection.count == 4)
        #expect(Weight.uses.withLock { $0 } > 0)
        #expect(Weight.standstills.withLock { $0 } == 0)
    }
}

@MainActor @Observable
private final class ShopManager {
    private let productsSyncEngine: CollectionSyncEngine<Product>
    var products: [Product] { productsSyncEngine.currentCollection }
    var refusals: [String] { productsSyncEngine.parked.map(\.reason) }

    init(productsSyncEngine: CollectionSyncEngine<Product>) { self.productsSyncEngine = productsSyncEngine }
}

@MainActor @Observable
private final class UserManager {
    private let userSyncEngine: DocumentSyncEngine<Profile>
    var currentUser: Profile? { userSyncEngine.currentDocument }

    init(userSyncEngine: DocumentSyncEngine<Profile>) { self.userSyncEngine = userSyncEngine }
}

private struct HeavyItem: DataSyncModelProtocol {
    var id: String
    var weight = Weight()
}

/// A value that can be encoded and decoded only while the main actor makes progress.
private struct Weight: Codable, Sendable {
    /// Of the main actor.
    static let turns = Mutex(0)
    static let uses = Mutex(0)
    /// How often the main actor didn't go on.
    static let standstills = Mutex(0)

    init() {}

    init(from decoder: any Decoder) throws { Self.waitForTurn() }

    func encode(to encoder: any Encoder) throws {
        Self.waitForTurn()
        var container = encoder.singleValueContainer()
        try container.encode(true)
    }

    private static func waitForTurn() {
        uses.withLock { $0 += 1 }
        let turn = turns.withLock { $0 }
        // A test beside this one may keep the main actor for long on a busy machine. One standstill is enough.
        let deadline = ContinuousClock.now + .seconds(240)
        while turns.withLock({ $0 }) == turn, standstills.withLock({ $0 }) == 0 {
            guard ContinuousClock.now < deadline else { return standstills.withLock { $0 += 1 } }
            Thread.sleep(forTimeInterval: 0.001)
        }
    }
}
