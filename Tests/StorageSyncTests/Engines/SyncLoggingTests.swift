import Foundation
import StorageSync
import TestSupport
import Testing

/// What an engine logs as it loads, receives and sends.
@MainActor @Suite struct SyncLoggingTests {
    private let recorder = EventRecorder()

    @Test("A bulk load is one event, later changes are one each")
    func bulkLoadEvents() async throws {
        let shop = try SyncedShop([Product("a"), Product("b"), Product("c")])
        let engine = shop.engine(logger: recorder)
        await engine.startListening()
        #expect(recorder.parameters("bulkLoad_start").count == 1)
        #expect(recorder.parameters("bulkLoad_success").map { $0["count"] as? Int } == [3])
        shop.mock.change(Product("b", name: "new"))
        shop.mock.remove(id: "c")
        try await eventually { recorder.ids("documentDeleted") == ["c"] && recorder.ids("documentUpdated") == ["b"] }
        // One's own writes aren't received.
        try await engine.saveDocument(Product("d")).confirmed()
        try await engine.settled()
        shop.mock.change(Product("a", name: "last"))
        try await eventually { recorder.ids("documentUpdated").last == "a" }
        #expect(recorder.ids("documentUpdated") == ["b", "a"])
        engine.stopListening()
        try await eventually { recorder.parameters("cachesCleared").count == 1 }
        #expect(recorder.ids("documentDeleted") == ["c"], "what is cleared isn't deleted")
    }

    @Test("A remote that can't be reached fails the bulk load")
    func bulkLoadFails() async throws {
        let shop = try SyncedShop()
        shop.remote.willFetch = { throw RemoteError.unavailable() }
        let engine = shop.engine(logger: recorder)
        await engine.startListening()
        #expect(recorder.parameters("bulkLoad_start").count == 1)
        #expect(recorder.parameters("bulkLoad_fail").count == 1)
        #expect(recorder.parameters("listener_fail").count == 1)
        #expect(recorder.parameters("listener_success").isEmpty)
        #expect(recorder.parameters("bulkLoad_success").isEmpty)
        #expect(recorder.events.last { $0.eventName == "products_bulkLoad_fail" }?.type == .severe)
    }

    @Test("A refused bulk load says why")
    func bulkLoadIsRefused() async throws {
        let shop = try SyncedShop()
        shop.mock.failure = RemoteError.unauthorized
        let engine = shop.engine(logger: recorder)
        await engine.startListening()
        #expect(engine.status.connection == .unauthorized)
        let errors = recorder.parameters("bulkLoad_fail").map { $0["error_description"] as? String }
        #expect(errors == ["unauthorized"])
    }

    @Test("A bulk load ends though the store is closed meanwhile")
    func bulkLoadOfClosedStore() async throws {
        let shop = try SyncedShop()
        shop.remote.willFetch = { try await shop.storage.close() }
        let engine = shop.engine(logger: recorder)
        await engine.startListening()
        #expect(recorder.parameters("bulkLoad_start").count == 1)
        #expect(recorder.parameters("bulkLoad_success").isEmpty)
        let errors = recorder.parameters("bulkLoad_fail").map { $0["error_description"] as? String }
        #expect(errors == [StorageError.closed().description])
        #expect(recorder.parameters("listener_fail").count == 1)
    }

    @Test("The queue is logged as it is sent")
    func queueEvents() async throws {
        let shop = try SyncedShop()
        let engine = shop.engine(logger: recorder)
        await engine.startListening()
        shop.remote.errors["a"] = RemoteError.unavailable(retryAfter: .seconds(600))
        shop.remote.errors["x"] = RemoteError.rejected("no")
        try await engine.saveDocument(Product("a"))
        try await eventually { if case .waiting = engine.status.connection { true } else { false } }
        for id in ["b", "x"] { try await engine.saveDocument(Product(id)) }
        try await eventually { engine.pendingCount == 3 }
        let before = recorder.parameters("syncPendingWrites_start").count
        shop.remote.errors["a"] = nil
        try await engine.retryNow()
        try await eventually { engine.pendingCount == 1 && engine.parked.count == 1 }
        try await eventually { recorder.parameters("syncPendingWrites_complete").count > before }
        #expect(recorder.parameters("syncPendingWrites_start").last?["pending_write_count"] as? Int == 3)
        let complete = try #require(recorder.parameters("syncPendingWrites_complete").last)
        #expect(complete["synced_count"] as? Int == 2)
        #expect(complete["failed_count"] as? Int == 1)
        #expect(recorder.ids("writeParked") == ["x"])
    }

    @Test("Listening to a document without an account fails")
    func documentListeningFails() async throws {
        let account = Account(nil)
        let remote = MockRemoteDocumentService(
            document: Product("a"), collectionPath: { account.user }, delay: .zero)
        let engine = withDatabaseContainer(try PersistenceContainer.inMemory { $0.autoSchema(ProductRecord.self) }) {
            DocumentSyncEngine<Product>(remote: remote, managerKey: "products", logger: recorder)
        }
        await #expect(throws: StorageError.self) { try await engine.startListening(documentId: "a") }
        #expect(recorder.ids("listener_fail") == ["a"])
        #expect(recorder.ids("listener_start") == ["a"])
        account.user = "u"
        try await engine.startListening(documentId: "a")
        #expect(recorder.ids("listener_success") == ["a"])
        #expect(recorder.ids("listener_fail") == ["a"])
    }
}
