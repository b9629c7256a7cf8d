import Foundation
import GRDB
import StorageKit
import StorageTesting
import TestSupport
import Testing

@testable import StorageLog
@testable import StorageSync

/// What is retried and discarded while no engine is open comes to the same as what an engine does.
@MainActor @Suite(.timeLimit(.minutes(10))) struct OutboxStatusTests {
    /// A store with a remote that has the products `a` and `b`; both are refused from then on.
    private func refused(
        at url: URL, _ body: (CollectionSyncEngine<Product>, SyncedShop) async throws -> Void
    ) async throws {
        let shop = try SyncedShop(at: url, mock: mock)
        let engine = shop.engine()
        await engine.startListening()
        shop.remote.errors = ["a": RemoteError.rejected("no"), "b": RemoteError.rejected("no")]
        try await body(engine, shop)
        try await shop.storage.close()
    }

    private let mock = MockRemoteCollectionService(collection: [Product("a"), Product("b")], delay: .zero)

    private func outboxes(_ shop: SyncedShop) async throws -> [OutboxStatus] {
        try await shop.storage.engine.read { try OutboxStatus.all(in: $0) }
    }

    private func change(_ url: URL, _ body: @escaping @Sendable (OutboxStatus, Database) throws -> Void) async throws {
        let engine = try StorageEngine.open(path: url.path, configuration: StorageConfig())
        try await engine.withWriter { writer, db in
            try writer.group(db) { for outbox in try OutboxStatus.all(in: db) { try body(outbox, db) } }
        }
        try await engine.close()
    }

    /// What the engine makes of it when it is opened.
    private func reopened(
        _ url: URL, listens: Bool = false, _ body: (CollectionSyncEngine<Product>, SyncedShop) async throws -> Void
    ) async throws {
        let shop = try SyncedShop(at: url, mock: mock)
        let engine = shop.engine()
        if listens { await engine.startListening() } else { try await engine.retryNow() }
        try await body(engine, shop)
        try await shop.storage.close()
    }

    @Test("Parked writes are sent again")
    func parkedWritesAreRetried() async throws {
        try await withTemporaryFolder { folder in
            let url = folder.appendingPathComponent("shop.sqlite")
            try await refused(at: url) { engine, shop in
                try await engine.updateDocument(id: "a", data: ["price": 5.0])
                try await engine.updateDocument(id: "b", data: ["price": 6.0])
                try await eventually { engine.parked.count == 2 }
                let outbox = try #require(try await outboxes(shop).first)
                #expect(outbox.manager == "products")
                #expect(outbox.entity == "products")
                #expect(outbox.isActive)
                #expect(outbox.parkedCount == 2)
                #expect(outbox.writes.map(\.documentId) == ["a", "b"])
                #expect(outbox.writes.map(\.state) == [.parked(reason: "no"), .parked(reason: "no")])
            }
            try await change(url) { try $0.selecting { $0.documentId == "b" }.retry(at: 0, in: $1) }
            try await reopened(url) { engine, _ in
                try await eventually { engine.pendingCount == 1 }
                #expect(engine.parked.map(\.documentId) == ["a"])
                #expect(mock.collection == [Product("a"), Product("b", price: 6)])
            }
        }
    }

    /// The row was removed with the remote's document, and only the engine can make it.
    @Test("A retried update shows its document again when the engine opens")
    func retriedUpdateShowsDocument() async throws {
        try await withTemporaryFolder { folder in
            let url = folder.appendingPathComponent("a.sqlite")
            let hub = try await FaultyHub(TemporaryStore())
            try await HubDevice(at: url, hub, parking: "p1").close()
            try await change(url) { try $0.retry(at: 0, in: $1) }
            let device = try HubDevice(at: url, hub)
            try await device.engine.retryNow()
            let document = Product("p1", name: "mine")
            try await eventually { device.engine.currentCollection == [document] }
            hub.isUp = true
            await device.engine.startListening()
            try await eventually { try await device.unconfirmed() == 0 }
            #expect(try await hub.products() == [document])
            #expect(device.engine.currentCollection == [document])
            try await device.close()
        }
    }

    @Test("A discarded write is dropped when the engine opens", arguments: [false, true])
    func discardedWhenEngineOpens(listens: Bool) async throws {
        try await withTemporaryFolder { folder in
            let url = folder.appendingPathComponent("shop.sqlite")
            try await refused(at: url) { engine, _ in
                try await engine.updateDocument(id: "a", data: ["price": 5.0])
                try await eventually { engine.parked.count == 1 }
                try await engine.updateDocument(id: "a", data: ["name": "Lamp"])
                try await engine.saveDocument(Product("c"))
                try await engine.settledExcept(2)
            }
            try await change(url) { try $0.selecting(\.isParked).discard(in: $1) }
            try await reopened(url, listens: listens) { engine, shop in
                try await engine.settled()
                #expect(engine.getDocument(id: "a") == Product("a", name: "Lamp"))
                #expect(mock.collection == [Product("a", name: "Lamp"), Product("b"), Product("c")])
                #expect(try await outboxes(shop).map(\.writes) == [[]])
            }
        }
    }

    @Test("Documents whose ids are spelt differently in Unicode are discarded each")
    func discardingBothSpellings() async throws {
        try await withTemporaryFolder { folder in
            let url = folder.appendingPathComponent("shop.sqlite")
            try await refused(at: url) { engine, _ in
                mock.failure = RemoteError.unavailable()
                try await engine.saveDocument(Product("caf\u{e9}"))
                try await engine.saveDocument(Product("cafe\u{301}"))
            }
            try await change(url) { try $0.discard(in: $1) }
            try await reopened(url) { engine, shop in
                #expect(engine.pendingCount == 0)
                let stored = try await shop.stored()
                #expect(stored == [Product("a"), Product("b")])
            }
            mock.failure = nil
        }
    }

    /// A retried write takes along what waits behind it.
    @Test("A discarded write isn't sent when an earlier one is retried")
    func retryKeepsLaterDiscarded() async throws {
        try await withTemporaryFolder { folder in
            let url = folder.appendingPathComponent("shop.sqlite")
            try await refused(at: url) { engine, shop in
                shop.remote.errors["a"] = RemoteError.notFound
                try await engine.updateDocument(id: "a", data: ["price": 5.0])
                try await eventually { engine.parked.count == 1 }
                try await engine.updateDocument(id: "a", data: ["name": "Lamp"])
            }
            try await change(url) { outbox, db in try outbox.selecting { !$0.isParked }.discard(in: db) }
            try await change(url) { outbox, db in try outbox.selecting(\.isParked).retry(at: 0, in: db) }
            try await change(url) { outbox, _ in #expect(outbox.writes.map(\.state) == [.waiting, .discarded]) }
            try await reopened(url) { engine, _ in
                try await engine.settled()
                #expect(mock.collection.contains(Product("a", price: 5)))
                try await eventually { engine.getDocument(id: "a") == Product("a", price: 5) }
            }
        }
    }

    /// What the remote has is known from what was received, which is stored beside the outbox.
    @Test("Discarding a write leaves what the remote has")
    func discardingLeavesRemoteState() async throws {
        try await withTemporaryFolder { folder in
            let url = folder.appendingPathComponent("shop.sqlite")
            try await refused(at: url) { engine, _ in
                try await engine.updateDocument(id: "a", data: ["price": 5.0])
                try await eventually { engine.parked.count == 1 }
                mock.change(Product("a", name: "Chair", price: 7))
                try await eventually { engine.getDocument(id: "a")?.name == "Chair" }
                #expect(engine.getDocument(id: "a")?.price == 5)
            }
            try await change(url) { try $0.discard(in: $1) }
            mock.failure = RemoteError.unavailable()
            try await reopened(url) { engine, _ in
                #expect(engine.pendingCount == 0)
                try await eventually { engine.getDocument(id: "a") == Product("a", name: "Chair", price: 7) }
            }
            mock.failure = nil
        }
    }

    @Test("Writes that no engine has seen are listed and discarded")
    func unseenWrites() async throws {
        try await withTemporaryFolder { folder in
            let url = folder.appendingPathComponent("shop.sqlite")
            try await refused(at: url) { _, _ in }
            let shop = try SyncedShop(at: url, mock: mock)
            try await shop.storage.save(Product("b", price: 9))
            try await shop.storage.save(Product("x"))
            try await shop.storage.delete(Product.self, id: "a")
            let writes = try await outboxes(shop).flatMap(\.writes)
            #expect(writes.map(\.documentId) == ["b", "x", "a"])
            #expect(writes.map(\.kind) == [.patch, .save, .delete])
            #expect(writes.allSatisfy { $0.state == .waiting })
            try await shop.storage.close()
            try await change(url) { try $0.selecting { $0.documentId != "b" }.discard(in: $1) }
            let again = try SyncedShop(at: url, mock: mock)
            #expect(try await outboxes(again).flatMap(\.writes).map(\.state) == [.waiting, .discarded, .discarded])
            try await again.storage.close()
            try await reopened(url) { engine, _ in
                try await engine.settled()
                try await eventually { engine.currentCollection == [Product("a"), Product("b", price: 9)] }
                #expect(mock.writes == [.update(id: "b", fields: ["price"])])
            }
        }
    }

    /// An account's writes can be discarded while another one is signed in.
    @Test("Writes of another account are discarded before its documents are shown")
    func writesOfAnotherAccount() async throws {
        try await withTemporaryFolder { folder in
            let url = folder.appendingPathComponent("shop.sqlite")
            let account = Account("anna")
            let remote = MockRemoteCollectionService<Product>(
                collectionPath: { account.user }, delay: .zero)
            @MainActor func use(_ body: (CollectionSyncEngine<Product>) async throws -> Void) async throws {
                let shop = try SyncedShop(at: url, mock: remote)
                let engine = shop.engine()
                try await body(engine)
                try await shop.storage.close()
            }
            remote.failure = RemoteError.unavailable()
            try await use { engine in
                try await engine.saveDocument(Product("a"))
                account.user = "ben"
                try await engine.saveDocument(Product("b"))
            }
            try await change(url) { outbox, db in
                if outbox.path == "anna" {
                    #expect(!outbox.isActive)
                    #expect(outbox.writes.map(\.documentId) == ["a"])
                    try outbox.discard(in: db)
                }
            }
            account.user = "anna"
            remote.failure = nil
            try await use { engine in
                try await engine.saveDocument(Product("c"))
                try await engine.settled()
                #expect(engine.currentCollection == [Product("c")])
                #expect(remote.collection == [Product("c")])
            }
        }
    }
}

extension CollectionSyncEngine {
    fileprivate func settledExcept(_ count: Int) async throws {
        try await eventually { self.pendingCount == count }
    }
}
