import Foundation
import PredicateTestSupport
import StorageCore
import StorageEntities
import StorageKit
import StorageLog
import StorageMaintenance
import StorageTesting
import Synchronization
import TestSupport
import Testing

@testable import StorageSync

/// A hub on a store that can't always be reached.
@MainActor
final class FaultyHub {
    private struct State {
        var isUp = true
        var losesAnswers = false
        var random = PredicateGenerator(seed: 1)
        var pageLimit: Int?
        var pages = Int.max
        var batches = Int.max
        var access = HubAccess.full
    }

    /// Keeps the file.
    private let store: TemporaryStore
    private var storage: Storage
    private(set) var hub: StoreHub {
        didSet { served.withLock { $0 = hub } }
    }
    private nonisolated let served: Mutex<StoreHub>
    private nonisolated let state = Mutex(State())

    init(_ store: TemporaryStore) async throws {
        self.store = store
        storage = store.storage
        let hub = try await StoreHub(store.storage)
        self.hub = hub
        served = Mutex(hub)
    }

    /// What is served now.
    nonisolated var current: StoreHub { served.withLock { $0 } }

    /// A copy of the hub's file.
    func copy() async throws -> Data {
        hub.stop()
        try await storage.close()
        let copy = try Data(contentsOf: store.url)
        try await reopen()
        return copy
    }

    /// Goes on from an older copy without a new line.
    func replace(by copy: Data) async throws {
        hub.stop()
        try await storage.close()
        try copy.write(to: store.url)
        try await reopen()
    }

    /// Goes on with an empty store, as after the loss of its file.
    func recreate() async throws {
        hub.stop()
        try await storage.close()
        try FileManager.default.removeItem(at: store.url)
        try await reopen()
    }

    /// Goes on from an earlier point of the log, as a restored backup does.
    func restore(to position: Int64) async throws {
        hub.stop()
        try await storage.close()
        let restored = store.url.deletingLastPathComponent().appendingPathComponent("restored.sqlite")
        _ = try await PointRestore(store.url.path).run(
            position, to: restored.path, replacing: false,
            recording: (StorageOperation("restore"), CommitMetadata()))
        try Data(contentsOf: restored).write(to: store.url)
        try FileManager.default.removeItem(at: restored)
        try await reopen()
    }

    private func reopen() async throws {
        // What was acknowledged is kept beside the file: an older one isn't opened before somebody has removed it.
        try? FileManager.default.removeItem(atPath: store.url.path + ".bell")
        storage = try StorageKit.start(at: store.url) { _ in }.facade
        hub = try await StoreHub(storage)
    }

    /// The most changes of a page.
    var pageLimit: Int? {
        get { state.withLock { $0.pageLimit } }
        set { state.withLock { $0.pageLimit = newValue } }
    }
    /// How many pages are answered still; then it can't be reached.
    var pages: Int {
        get { state.withLock { $0.pages } }
        set { state.withLock { $0.pages = newValue } }
    }

    /// How many batches are applied still; later ones wait.
    var batches: Int {
        get { state.withLock { $0.batches } }
        set { state.withLock { $0.batches = newValue } }
    }

    fileprivate nonisolated func waitForBatch() async throws {
        let isAdmitted = {
            self.state.withLock { state in
                guard state.batches > 0 else { return false }
                state.batches -= state.batches == .max ? 0 : 1
                return true
            }
        }
        while !isAdmitted() { try await Task.sleep(for: .milliseconds(1)) }
    }

    /// What those may who use it as a remote.
    nonisolated var access: HubAccess {
        get { state.withLock { $0.access } }
        set { state.withLock { $0.access = newValue } }
    }

    fileprivate nonisolated func limited(_ pull: HubPull) throws -> HubPull {
        try state.withLock { state in
            guard state.pages > 0 else { throw SyncFailure.retryable(afterMicroseconds: nil) }
            state.pages -= state.pages == .max ? 0 : 1
            var pull = pull
            pull.limit = state.pageLimit ?? pull.limit
            return pull
        }
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
final class HubGoods: RemoteCollectionService, RemoteDocumentService, HubService {
    typealias T = Product
    let capabilities = RemoteCapabilities.standard

    private struct Passing: SyncHub {
        let faulty: FaultyHub
        var hub: StoreHub { faulty.current }

        func hello(from producer: ProducerID, epoch: Int64, as _: HubAccess) async throws -> SyncWelcome {
            try await faulty.pass { try await hub.hello(from: producer, epoch: epoch, as: faulty.access) }
        }
        func push(_ batch: HubBatch, as _: HubAccess) async throws -> [NumberedResult] {
            try await faulty.waitForBatch()
            return try await faulty.pass { try await hub.push(batch, as: faulty.access) }
        }
        func pull(_ pull: HubPull, as _: HubAccess) async throws -> SyncPage {
            let pull = try faulty.limited(pull)
            return try await faulty.pass { try await hub.pull(pull, as: faulty.access) }
        }
        func head() async throws -> Int64 { try await hub.head() }
    }

    private let faulty: FaultyHub
    private nonisolated var store: StoreHub { faulty.current }
    nonisolated let hub: any SyncHub
    nonisolated let hubCollection = "goods"
    private let account: Account
    /// What happens before a document is answered.
    var willAnswer: @MainActor () async -> Void = {}

    init(_ faulty: FaultyHub, _ account: Account = Account("hub")) {
        self.faulty = faulty
        self.account = account
        hub = Passing(faulty: faulty)
    }

    var collectionPath: String? { account.user }

    nonisolated func hubDocument(_ id: String) async throws -> HubDocument {
        await willAnswer()
        do { return try await store.document(id, of: hubCollection, as: faulty.access) } catch HubError.notFound {
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
struct HubDevice {
    let url: URL
    let hub: FaultyHub
    let container: PersistenceContainer
    let remote: HubGoods
    let engine: CollectionSyncEngine<Product>

    init(
        at url: URL, _ hub: FaultyHub, account: Account = Account("hub"),
        conflictResolution: ConflictResolution<Product> = .lastWriterWins, logger: (any DataSyncLogger)? = nil,
        config: StorageConfig? = nil
    ) throws {
        self.url = url
        self.hub = hub
        container = try .file(at: url, config: config) { $0.autoSchema(ProductRecord.self) }
        let remote = HubGoods(hub, account)
        self.remote = remote
        engine = withDatabaseContainer(container) {
            CollectionSyncEngine<Product>(
                remote: remote, managerKey: "products", conflictResolution: conflictResolution, logger: logger)
        }
    }

    /// A device that listens to a hub which can't be reached, with an update that is parked because its document was
    /// deleted.
    init(at url: URL, _ hub: FaultyHub, parking id: String) async throws {
        try self.init(at: url, hub)
        try await hub.save(Product(id))
        await engine.startListening()
        hub.isUp = false
        try await engine.updateDocument(id: id, data: ["name": "mine"])
        _ = try await hub.hub.write(.delete, to: id, of: "goods", as: .full)
        hub.isUp = true
        try await engine.retryNow()
        let engine = engine
        try await eventually { engine.parked.count == 1 && engine.currentCollection.isEmpty }
        hub.isUp = false
    }

    /// How many writes aren't confirmed yet.
    func unconfirmed() async throws -> Int {
        try await container.storage.read { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM sync_outbox WHERE state <> 'confirmed'") ?? 0
        }
    }

    /// The states of all writes, in their order.
    func states() async throws -> [String] {
        try await container.storage.read { db in
            try String.fetchAll(db, sql: "SELECT state FROM sync_outbox ORDER BY position")
        }
    }

    /// What an attribute names in commits of what was received, in their order.
    func received(_ attribute: String) async throws -> [String] {
        var names: [String] = []
        var last: Int64?
        for try await event in container.storage.log.events(LogQuery(tables: ["products", "storage_operation"])) {
            let metadata = event.commit.metadata
            guard metadata.actor == "sync products", metadata.reason == "receive", event.commit.number != last
            else { continue }
            last = event.commit.number
            names += metadata.attributes[attribute]?.split(separator: " ").map(String.init) ?? []
        }
        return names
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
            // Time to send before it is asked to retry again.
            try await Task.sleep(for: .milliseconds(5))
            return engine.pendingCount == 0
        }
    }
}
