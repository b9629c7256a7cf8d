import Foundation
import StorageKit
import StorageTesting
import Synchronization
import TestSupport
import Testing

@testable import StorageSync

/// What engines keep to whatever is under way: each test holds up a step, and does something else meanwhile.
@MainActor @Suite(.serialized, .timeLimit(.minutes(10))) struct EngineOrderTests {
    // MARK: Two engines

    /// A call that was under way when an engine was closed may take as long as it likes, also where it ignores that it is cancelled.
    @Test("A closed engine sends nothing after a later one")
    func closedEngineSendsNothing() async throws {
        let shop = try SyncedShop()
        let gate = Gate()
        shop.remote.willWrite = { if $0 == "a" { await gate.wait() } }
        shop.mock.failure = RemoteError.unavailable()
        let first = shop.engine()
        try await first.saveDocument(Product("a"))
        try await first.saveDocument(Product("b", name: "old"))
        shop.mock.failure = nil
        try await first.retryNow()
        try await eventually { gate.isReached }
        let second = shop.engine()
        let receipt = try await second.saveDocument(Product("b", name: "new"))
        let confirmed = Task { try await receipt.confirmed() }
        // Time for the second one to send in front of it, which it must not.
        try await Task.sleep(for: .milliseconds(200))
        gate.open()
        try await confirmed.value
        try await second.settled()
        // Whatever the first one has begun.
        try await Task.sleep(for: .milliseconds(100))
        #expect(shop.remoteProducts == [Product("a"), Product("b", name: "new")])
        #expect(shop.mock.writes.filter { $0 == .save(Product("b", name: "old")) }.count <= 1)
        #expect(second.getDocument(id: "b")?.name == "new")
    }

    @Test("Of two engines that start at once one sends")
    func simultaneousEngines() async throws {
        let shop = try SyncedShop([Product("a")])
        for round in 0..<10 {
            let (first, second) = (shop.engine(), shop.engine())
            async let begun: Void = first.startListening()
            async let alsoBegun: Void = second.startListening()
            _ = await (begun, alsoBegun)
            #expect([first, second].filter { $0.status.connection == .idle }.count == 1)
            try await second.saveDocument(Product("\(round)")).confirmed()
            #expect(shop.mock.writes == (0...round).map { .save(Product("\($0)")) })
        }
    }

    @Test("An engine that was replaced doesn't clear for the other")
    func replacedEngineDoesNotClear() async throws {
        let shop = try SyncedShop([Product("a")])
        let (first, second) = (shop.engine(), shop.engine())
        await first.startListening()
        await second.startListening()
        first.stopListening()
        #expect(first.currentCollection.isEmpty)
        for _ in 0..<300 { await Task.yield() }
        // What it was asked for has been done when it is used again.
        #expect(try await first.getDocumentAsync(id: "a") == Product("a"))
        #expect(try await shop.stored() == [Product("a")])
        await second.startListening()
        #expect(second.currentCollection == [Product("a")])
    }

    // MARK: Listening

    /// A view that goes while it loads.
    @Test("Stopping while listening starts stops it")
    func stoppingWhileStarting() async throws {
        for call in 1... {
            let path = ObservedPath()
            let mock = MockRemoteCollectionService(
                collection: [Product("a")], collectionPath: { path.asked() }, delay: .zero)
            let shop = try SyncedShop(mock: mock)
            let engine = shop.engine()
            path.act(at: call) { Task { engine.stopListening() } }
            await engine.startListening()
            guard path.hasActed else {
                #expect(call > 5)
                break
            }
            try await eventually {
                let stored = try await shop.stored()
                return mock.listenerCount == 0 && stored.isEmpty
            }
            // Nothing comes behind that.
            for _ in 0..<100 { await Task.yield() }
            #expect(engine.currentCollection.isEmpty, "stopped at call \(call)")
            #expect(mock.listenerCount == 0, "stopped at call \(call)")
            await engine.startListening()
            #expect(engine.currentCollection == [Product("a")])
        }
    }

    @Test("Streams end when they are no longer needed")
    func streamsEndWithTheirUse() async throws {
        let mock = MockRemoteDocumentService<Profile>(delay: .zero)
        for id in ["1", "2", "3"] { mock.change(Profile(id: id, name: id)) }
        var engine: DocumentSyncEngine<Profile>? = withDatabaseContainer(try .inMemory()) {
            DocumentSyncEngine(remote: mock, managerKey: "user")
        }
        for id in ["1", "2", "3"] { try await engine?.startListening(documentId: id) }
        try await eventually { mock.listenerCount == 1 }
        engine = nil
        try await eventually { mock.listenerCount == 0 }
    }

    /// A document that two streams tell about is fetched; where that fails, all is listened to again.
    @Test("Streams are reopened when a document can't be fetched")
    func streamsEndOnFailedFetch() async throws {
        let shop = try SyncedShop([Product("a"), Product("b")])
        let engine = shop.engine()
        await engine.startListening()
        shop.remote.getErrors = [RemoteError.unavailable()]
        shop.mock.change(Product("a", name: "new"))
        shop.mock.remove(id: "a")
        shop.mock.change(Product("a", name: "newer"))
        try await eventually { shop.remote.getErrors.isEmpty }
        try await engine.retryNow()
        try await eventually {
            engine.currentCollection == [Product("a", name: "newer"), Product("b")] && shop.mock.listenerCount == 2
        }
    }

    /// Where what was received was given up, it is asked for again, also where the remote has nothing.
    @Test("A store that lost its position is answered from the beginning")
    func lostPositionStartsOver() async throws {
        let store = SyncStore<Product>(storage: try SyncedShop().storage, manager: "products", path: "products")
        _ = try await store.activate()
        let mock = MockRemoteCollectionService<Product>(collectionPath: { "products" }, delay: .zero)
        let remote = ServiceRemote(RemoteAccess(mock), store: store, since: 0, document: nil)
        await remote.setListening(true)
        _ = try await remote.answer(.pull(line: [], position: 5), knowing: SyncRecord())
        #expect(await remote.snapshotEnd == 5)
        let pull = Task { try await remote.answer(.pull(line: [], position: 0), knowing: SyncRecord()) }
        try await eventually { await remote.snapshotEnd == 0 }
        pull.cancel()
        await remote.setListening(false)
    }

    // MARK: What is shown

    /// Whichever time the document is decoded: on the way into the store, or out of it.
    @Test("A single failed read is repeated")
    func failedReadIsRepeated() async throws {
        for failing in 1...6 {
            let mock = MockRemoteCollectionService<Fragile>(
                collection: [Fragile(id: "a", name: "1"), Fragile(id: "b", name: "1")], delay: .zero)
            let engine = withDatabaseContainer(try .inMemory()) {
                CollectionSyncEngine(remote: mock, managerKey: "fragile")
            }
            await engine.startListening()
            Fragile.fail(at: failing)
            mock.change(Fragile(id: "a", name: "2"))
            try await eventually { Fragile.hasFailed || engine.getDocument(id: "a")?.name == "2" }
            Fragile.fail(at: 0)
            mock.change(Fragile(id: "b", name: "2"))
            try await eventually {
                engine.getDocument(id: "b")?.name == "2"
                    && (engine.getDocument(id: "a")?.name == "2" || !engine.status.unreadable.isEmpty)
            }
        }
    }

    /// Also the read with which an engine begins.
    @Test("An engine that couldn't start starts again")
    func failedStartIsRepeated() async throws {
        let container = try PersistenceContainer.inMemory()
        let mock = MockRemoteCollectionService<Fragile>(collection: [Fragile(id: "a", name: "1")], delay: .zero)
        func engine() -> CollectionSyncEngine<Fragile> {
            withDatabaseContainer(container) { CollectionSyncEngine(remote: mock, managerKey: "fragile") }
        }
        await engine().startListening()
        for failing in 1...6 {
            let engine = engine()
            Fragile.fail(at: failing)
            await engine.startListening()
            Fragile.fail(at: 0)
            await engine.startListening()
            mock.change(Fragile(id: "a", name: "\(failing) changed"))
            try await eventually { engine.currentCollection == [Fragile(id: "a", name: "\(failing) changed")] }
        }
    }

    // MARK: Writes

    /// A hub's documents are changed and deleted by their ids, whatever was listened to before.
    @Test("A document that was cleared can be deleted")
    func deletingClearedDocument() async throws {
        try await withTemporaryFolder { folder in
            let hub = try await FaultyHub(TemporaryStore())
            try await hub.save(Product("p1"))
            try await hub.save(Product("p2", name: "two"))
            let device = try HubDevice(at: folder.appendingPathComponent("a.sqlite"), hub)
            await device.engine.startListening()
            device.engine.stopListening()
            try await eventually { device.engine.currentCollection.isEmpty && device.engine.pendingCount == 0 }
            let receipt = try #require(try await device.engine.deleteDocument(id: "p1"))
            try await receipt.confirmed()
            try await device.engine.updateDocument(id: "p2", data: ["price": 7.5]).confirmed()
            #expect(try await hub.fields(of: "p2")["price"] == "7.5")
            await device.engine.startListening()
            #expect(device.engine.currentCollection == [Product("p2", name: "two", price: 7.5)])
            try await device.close()
        }
    }

    /// Where the engine begins again, a write counts as confirmed no earlier than it is sent.
    @Test("A write that wasn't sent isn't confirmed")
    func unsentWriteIsNotConfirmed() async throws {
        let shop = try SyncedShop()
        let gate = Gate()
        shop.remote.willWrite = { if $0 == "y" { await gate.wait() } }
        let engine = shop.engine()
        await engine.startListening()
        try await engine.saveDocument(Product("y"))
        try await eventually { gate.isReached }
        let receipt = try await engine.saveDocument(Product("x"))
        let isConfirmed = Mutex(false)
        let confirmed = Task {
            try await receipt.confirmed()
            isConfirmed.withLock { $0 = true }
        }
        // Time to be waiting for the confirmation.
        try await Task.sleep(for: .milliseconds(20))
        // Another process of the same program has saved.
        try await shop.storage.write { try $0.execute("UPDATE sync_remotes SET revision = revision + 1") }
        shop.mock.change(Product("z"))
        try await eventually { engine.getDocument(id: "z") != nil }
        // Time for a confirmation that must not come.
        try await Task.sleep(for: .milliseconds(50))
        #expect(!isConfirmed.withLock { $0 })
        gate.open()
        try await confirmed.value
        #expect(shop.mock.writes.contains(.save(Product("x"))))
    }

    /// Whenever the task is cancelled: either the document isn't saved, or there is a receipt.
    @Test("A cancelled save has done nothing, or is done")
    func cancelledSave() async throws {
        var saved = 0
        for call in 1...8 {
            let container = try PersistenceContainer.inMemory()
            let mock = MockRemoteCollectionService<Fragile>(delay: .zero)
            let engine = withDatabaseContainer(container) {
                CollectionSyncEngine(remote: mock, managerKey: "fragile")
            }
            await engine.startListening()
            let save = Task { try await engine.saveDocument(Fragile(id: "a", name: "1")) }
            Fragile.encoding(at: call) { save.cancel() }
            let result = await save.result
            Fragile.encoding(at: 0) {}
            let isStored = try await container.storage.read { db in
                try Int.fetchOne(db, sql: "SELECT count(*) FROM sync_documents") == 1
            }
            switch result {
            case .success:
                #expect(isStored)
                #expect(engine.getDocument(id: "a") != nil)
                saved += 1
            case .failure: #expect(!isStored, "cancelled at call \(call)")
            }
            try await container.storage.close()
        }
        #expect(saved > 0)
    }

    @Test("A remote that cancels its own work is asked again")
    func remoteCancellingItself() async throws {
        let shop = try SyncedShop()
        let engine = shop.engine()
        await engine.startListening()
        shop.remote.errors["a"] = CancellationError()
        try await engine.saveDocument(Product("a"))
        try await eventually { shop.remote.attempts.contains("a") }
        shop.remote.errors = [:]
        let time = TaskTime()
        try await engine.retryNow()
        try await engine.settled()
        // A request that nobody answers is given up behind a minute.
        #expect(time.elapsed < .seconds(45))
        #expect(shop.remoteProducts == [Product("a")])
    }

    // MARK: Accounts

    /// Whenever somebody else signs in during a call, nothing of them gets into the documents of who has called.
    @Test("What is fetched for another account isn't kept")
    func accountChangesDuringFetch() async throws {
        for call in 1... {
            let path = ObservedPath()
            let mock = MockRemoteCollectionService(
                collection: [Product("x", note: "anna")], collectionPath: { path.asked() }, delay: .zero)
            let shop = try SyncedShop(mock: mock)
            shop.remote.willGet = { Product($0, note: path.user) }
            let engine = shop.engine()
            path.act(at: call) { path.user = "berta" }
            _ = try? await engine.updateDocument(id: "x", data: ["price": 3.0])
            guard path.hasActed else {
                #expect(call > 3)
                break
            }
            path.user = "anna"
            // Time for the engine to notice.
            try await Task.sleep(for: .milliseconds(10))
            _ = try? await engine.getDocumentAsync(id: "none")
            let notes = try await shop.stored().compactMap(\.note)
            #expect(!notes.contains("berta"), "signed in at call \(call)")
        }
    }

    @Test("A collection of another account isn't returned")
    func accountChangesDuringRead() async throws {
        let account = Account("anna")
        let mock = MockRemoteCollectionService(
            collection: [Product("x")], collectionPath: { account.user }, delay: .zero)
        let shop = try SyncedShop(mock: mock)
        let engine = shop.engine()
        shop.remote.willFetch = { account.user = "berta" }
        await #expect(throws: CancellationError.self) {
            try await engine.getCollectionAsync(behavior: .alwaysFetch)
        }
        account.user = "anna"
        await #expect(throws: CancellationError.self) {
            try await engine.getDocumentsAsync { $0.where("name", isEqualTo: "") }
        }
    }
}

/// A path of an account, during the asking of which something happens.
@MainActor
private final class ObservedPath {
    var user = "anna"
    private(set) var hasActed = false
    private var callsLeft = 0
    private var action: () -> Void = {}

    nonisolated init() {}

    /// From now on, at so many calls.
    func act(at call: Int, _ action: @escaping () -> Void) { (callsLeft, self.action) = (call, action) }

    func asked() -> String {
        callsLeft -= 1
        if callsLeft == 0 {
            hasActed = true
            action()
        }
        return user
    }
}

/// A document that can't be decoded at one time.
private struct Fragile: DataSyncModelProtocol, Equatable {
    struct Failure: Error {}

    private struct Plan {
        var decodings = 0
        var encodings = 0
        var hasFailed = false
        var action: @Sendable () -> Void = {}
    }

    private static let plan = Mutex(Plan())

    /// The decoding with this number fails; none where 0.
    static func fail(at number: Int) { plan.withLock { ($0.decodings, $0.hasFailed) = (number, false) } }
    /// Something happens in the encoding with this number.
    static func encoding(at number: Int, _ action: @escaping @Sendable () -> Void) {
        plan.withLock { ($0.encodings, $0.action) = (number, action) }
    }
    static var hasFailed: Bool { plan.withLock { $0.hasFailed } }

    let id: String
    var name: String

    private enum CodingKeys: CodingKey { case id, name }

    init(id: String, name: String) { (self.id, self.name) = (id, name) }

    init(from decoder: any Decoder) throws {
        let fails = Self.plan.withLock { plan in
            plan.decodings -= 1
            if plan.decodings == 0 { plan.hasFailed = true }
            return plan.decodings == 0
        }
        if fails { throw Failure() }
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(String.self, forKey: .id)
        name = try container.decode(String.self, forKey: .name)
    }

    func encode(to encoder: any Encoder) throws {
        let action = Self.plan.withLock { plan in
            plan.encodings -= 1
            return plan.encodings == 0 ? plan.action : nil
        }
        action?()
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(name, forKey: .name)
    }
}
