import Foundation
import PredicateTestSupport
import StorageCore
import StorageKit
import StorageTesting
import Synchronization
import Testing

@testable import StorageSync

/// Engines on a hub, which loses requests and answers at times.
@MainActor @Suite(.timeLimit(.minutes(3))) struct HubEngineTests {
    @Test func writesArriveOnceAndInOrder() async throws {
        try await withTemporaryFolder { folder in
            let hub = try await FaultyHub(TemporaryStore())
            let device = try HubDevice(at: folder.appendingPathComponent("a.sqlite"), hub)
            for number in 0..<5 { try await device.engine.saveDocument(Product("p1", name: "\(number)")) }
            let receipt = try await device.engine.saveDocument(Product("p2"))
            try await receipt.confirmed()
            #expect(try await hub.fields(of: "p1")["name"] == #""4""#)
            #expect(device.engine.pendingCount == 0)
            let before = try await hub.hub.head()
            try await device.close()
            let again = try HubDevice(at: folder.appendingPathComponent("a.sqlite"), hub)
            await again.engine.startListening()
            #expect(again.engine.currentCollection.map(\.id) == ["p1", "p2"])
            #expect(try await hub.hub.head() == before, "nothing is sent twice")
            try await again.close()
        }
    }

    /// Nothing but what is asked for is read while nobody listens.
    @Test func aDocumentIsChangedThatTheStoreDoesNotHave() async throws {
        try await withTemporaryFolder { folder in
            let hub = try await FaultyHub(TemporaryStore())
            try await hub.save(Product("p1", name: "one", price: 2))
            let device = try HubDevice(at: folder.appendingPathComponent("a.sqlite"), hub)
            try await device.engine.updateDocument(id: "p1", data: ["price": 3.5]).confirmed()
            #expect(try await hub.fields(of: "p1")["price"] == "3.5")
            #expect(try await hub.fields(of: "p1")["name"] == #""one""#)
            await #expect(throws: StorageError.self) {
                try await device.engine.updateDocument(id: "none", data: ["price": 3.5])
            }
            try await device.close()
        }
    }

    @Test func whatOthersDoIsShown() async throws {
        try await withTemporaryFolder { folder in
            let hub = try await FaultyHub(TemporaryStore())
            try await hub.save(Product("p1"))
            let device = try HubDevice(at: folder.appendingPathComponent("a.sqlite"), hub)
            await device.engine.startListening()
            #expect(device.engine.currentCollection.map(\.id) == ["p1"])
            try await hub.save(Product("p2"))
            try await eventually { device.engine.currentCollection.map(\.id) == ["p1", "p2"] }
            _ = try await hub.hub.write(.delete, to: "p1", of: "goods", as: .full)
            try await eventually { device.engine.currentCollection.map(\.id) == ["p2"] }
            device.engine.stopListening(clearCaches: false)
            try await hub.save(Product("p3"))
            try await Task.sleep(for: .milliseconds(50))
            #expect(device.engine.currentCollection.map(\.id) == ["p2"])
            await device.engine.startListening()
            #expect(device.engine.currentCollection.map(\.id) == ["p2", "p3"])
            try await device.close()
        }
    }

    /// A write that doesn't know of a deletion is parked, and goes once somebody has seen it.
    @Test func aDeletionParksWhatDoesNotKnowIt() async throws {
        try await withTemporaryFolder { folder in
            let hub = try await FaultyHub(TemporaryStore())
            try await hub.save(Product("p1"))
            let device = try HubDevice(at: folder.appendingPathComponent("a.sqlite"), hub)
            await device.engine.startListening()
            hub.isUp = false
            _ = try await hub.hub.write(.delete, to: "p1", of: "goods", as: .full)
            try await device.engine.saveDocument(Product("p1", name: "late"))
            try await device.engine.saveDocument(Product("p2"))
            hub.isUp = true
            try await device.engine.retryNow()
            try await eventually { device.engine.parked.count == 1 && device.engine.pendingCount == 1 }
            #expect(try await hub.ids() == ["p2"], "it holds back no other document")
            let parked = try #require(device.engine.parked.first)
            try await eventually {
                try await device.engine.retry(parked)
                return try await hub.ids() == ["p1", "p2"]
            }
            #expect(try await hub.fields(of: "p1")["name"] == #""late""#)
            try await device.close()
        }
    }

    // MARK: Convergence

    nonisolated private static var seeds: [UInt64] {
        let environment = ProcessInfo.processInfo.environment
        if let seed = environment["STORAGEKIT_SEED"].flatMap({ UInt64($0) }) { return [seed] }
        let scale = environment["STORAGEKIT_TEST_SCALE"].flatMap { Double($0) } ?? 1
        return (1...UInt64(max(1, 10 * scale))).map { $0 }
    }

    @Test(arguments: seeds) func devicesAndHubBecomeEqual(seed: UInt64) async throws {
        try await withTemporaryFolder { folder in
            var random = PredicateGenerator(seed: seed)
            let hub = try await FaultyHub(TemporaryStore())
            hub.random = PredicateGenerator(seed: seed &+ 1)
            for number in 0..<3 { try await hub.save(Product("p\(number)")) }
            var devices: [HubDevice] = []
            for number in 0..<3 {
                devices.append(try HubDevice(at: folder.appendingPathComponent("\(number).sqlite"), hub))
            }
            for step in 0..<40 {
                let place = Int.random(in: 0..<devices.count, using: &random)
                try await devices[place].act(step, &random)
                switch Int.random(in: 0..<12, using: &random) {
                case 0: devices[place] = try await devices[place].restarted()
                case 1: hub.isUp.toggle()
                case 2: hub.losesAnswers.toggle()
                case 3: try await hub.save(Product("p\(step % 5)", name: "hub \(step)"))
                case 4: _ = try await hub.hub.write(.delete, to: "p\(step % 5)", of: "goods", as: .full)
                case 5...7: try await Task.sleep(for: .milliseconds(5))
                default: break
                }
            }
            (hub.isUp, hub.losesAnswers) = (true, false)
            for device in devices { try await device.heal() }
            for device in devices {
                try await eventually {
                    let products = try await hub.products()
                    return try await device.stored() == products && device.engine.currentCollection == products
                        && device.engine.pendingCount == 0
                }
                let products = try await hub.products()
                #expect(device.engine.pendingCount == 0, "seed \(seed)")
                #expect(device.engine.currentCollection == products, "seed \(seed)")
                #expect(try await device.stored() == products, "seed \(seed)")
                try await device.close()
            }
        }
    }
}

/// A hub on a store that can't always be reached.
@MainActor
private final class FaultyHub {
    private struct State {
        var isUp = true
        var losesAnswers = false
        var random = PredicateGenerator(seed: 1)
    }

    let store: TemporaryStore
    let hub: StoreHub
    private nonisolated let state = Mutex(State())

    init(_ store: TemporaryStore) async throws {
        self.store = store
        hub = try await StoreHub(store.storage)
    }

    var isUp: Bool {
        get { state.withLock { $0.isUp } }
        set { state.withLock { $0.isUp = newValue } }
    }
    var losesAnswers: Bool {
        get { state.withLock { $0.losesAnswers } }
        set { state.withLock { $0.losesAnswers = newValue } }
    }
    var random: PredicateGenerator {
        get { state.withLock { $0.random } }
        set { state.withLock { $0.random = newValue } }
    }

    fileprivate nonisolated func pass<Answer>(_ body: () async throws -> Answer) async throws -> Answer {
        guard state.withLock({ $0.isUp }) else { throw SyncFailure.retryable(afterMicroseconds: nil) }
        let answer = try await body()
        let isLost = state.withLock { $0.losesAnswers && Int.random(in: 0..<3, using: &$0.random) == 0 }
        guard !isLost, state.withLock({ $0.isUp }) else { throw SyncFailure.retryable(afterMicroseconds: nil) }
        return answer
    }

    func save(_ product: Product) async throws {
        let fields = try DocumentFields(encoding: product)
        _ = try await hub.write(.save(fields.storageValues), to: product.id, of: "goods", as: .full)
    }

    func fields(of id: String) async throws -> [String: String] {
        try await hub.document(id, of: "goods", as: .full).fields
    }

    func ids() async throws -> [String] {
        try await hub.documents(of: "goods", limit: 100, as: .full).documents.map(\.id)
    }

    func products() async throws -> [Product] {
        try await hub.documents(of: "goods", limit: 100, as: .full).documents.map {
            try DocumentFields($0.fields).document(Product.self)
        }
    }
}

/// The collection of the hub, as an engine's remote in the same process.
@MainActor
private final class HubGoods: RemoteCollectionService, HubService {
    private struct Passing: SyncHub {
        let faulty: FaultyHub
        let hub: StoreHub

        func hello(from producer: ProducerID, epoch: Int64, as access: HubAccess) async throws -> SyncWelcome {
            try await faulty.pass { try await hub.hello(from: producer, epoch: epoch, as: access) }
        }
        func push(_ batch: HubBatch, as access: HubAccess) async throws -> [NumberedResult] {
            try await faulty.pass { try await hub.push(batch, as: access) }
        }
        func pull(_ pull: HubPull, as access: HubAccess) async throws -> SyncPage {
            try await faulty.pass { try await hub.pull(pull, as: access) }
        }
        func head() async throws -> Int64 { try await hub.head() }
    }

    private let store: StoreHub
    nonisolated let hub: any SyncHub
    nonisolated let hubCollection = "goods"
    let collectionPath: String? = "hub"

    init(_ faulty: FaultyHub) {
        store = faulty.hub
        hub = Passing(faulty: faulty, hub: faulty.hub)
    }

    nonisolated func version(ofDocument id: String) async throws -> Int64 {
        do { return try await store.document(id, of: hubCollection, as: .full).version } catch HubError.notFound {
            throw RemoteError.notFound
        }
    }

    func getCollection() async throws -> [Product] { try await getDocuments(query: QueryBuilder()) }
    func getDocuments(query: QueryBuilder) async throws -> [Product] {
        try await store.documents(of: hubCollection, matching: query, as: .full).documents.map {
            try DocumentFields($0.fields).document(Product.self)
        }
    }
    func getDocument(id: String) async throws -> Product {
        do {
            return try DocumentFields(try await store.document(id, of: hubCollection, as: .full).fields)
                .document(Product.self)
        } catch HubError.notFound {
            throw RemoteError.notFound
        }
    }
    func saveDocument(_ model: Product) { Issue.record("an engine on a hub sends batches") }
    func updateDocument(id: String, data: [String: any DMCodableSendable]) {
        Issue.record("an engine on a hub sends batches")
    }
    func deleteDocument(id: String) { Issue.record("an engine on a hub sends batches") }
    func streamDocument(id: String) -> AsyncThrowingStream<Product?, any Error> { AsyncThrowingStream { $0.finish() } }
    func streamCollectionUpdates() -> (
        updates: AsyncThrowingStream<Product, any Error>, deletions: AsyncThrowingStream<String, any Error>
    ) { (AsyncThrowingStream { $0.finish() }, AsyncThrowingStream { $0.finish() }) }
}

/// A store with its engine.
@MainActor
private struct HubDevice {
    let url: URL
    let hub: FaultyHub
    let container: PersistenceContainer
    let engine: CollectionSyncEngine<Product>

    init(at url: URL, _ hub: FaultyHub) throws {
        self.url = url
        self.hub = hub
        container = try .file(at: url) { $0.autoSchema(ProductRecord.self) }
        engine = withDatabaseContainer(container) {
            CollectionSyncEngine<Product>(remote: HubGoods(hub), managerKey: "products")
        }
    }

    func close() async throws { try await container.storage.close() }

    func restarted() async throws -> HubDevice {
        try await close()
        return try HubDevice(at: url, hub)
    }

    func stored() async throws -> [Product] {
        try await container.storage.query(Product.self).orderBy(\.id).fetch()
    }

    func act(_ step: Int, _ random: inout PredicateGenerator) async throws {
        let id = "p\(Int.random(in: 0..<5, using: &random))"
        switch Int.random(in: 0..<9, using: &random) {
        case 0, 1: try await engine.saveDocument(Product(id, name: "saved \(step)"))
        case 2...4:
            guard engine.getDocument(id: id) != nil else { break }
            // The document may be deleted by what is received meanwhile.
            do {
                let data: [String: any DMCodableSendable] =
                    Bool.random(using: &random) ? ["price": Double(step)] : ["note": "note \(step)"]
                try await engine.updateDocument(id: id, data: data)
            } catch is StorageError {} catch is RemoteError {} catch is SyncFailure {}
        case 5: try await container.storage.delete(Product.self, id: id)
        case 6: await engine.startListening()
        case 7: engine.stopListening(clearCaches: Bool.random(using: &random))
        default: try await container.storage.save(Product(id, name: "direct \(step)"))
        }
    }

    func heal() async throws {
        await engine.startListening()
        try await eventually {
            try await engine.retryNow()
            if let parked = engine.parked.first { try await engine.discard(parked) }
            try await Task.sleep(for: .milliseconds(5))
            return engine.pendingCount == 0
        }
    }
}
