import Foundation
import StorageSync
import TestSupport
import Testing

/// Changes of a document that weren't sent are sent as one.
@MainActor @Suite struct MergedWritesTests {
    /// A passing error after which nothing is sent until somebody asks for it.
    private let busy = RemoteError.unavailable(retryAfter: .seconds(600))

    /// Makes an engine wait, with a write that was sent without an answer.
    private func hold(_ id: String, of shop: SyncedShop, _ engine: CollectionSyncEngine<Product>) async throws {
        shop.remote.errors[id] = busy
        try await engine.saveDocument(Product(id, name: "held"))
        try await eventually { if case .waiting = engine.status.connection { true } else { false } }
    }

    @Test("Merged writes are one call, and the history has each step")
    func mergedCallAndFullHistory() async throws {
        let shop = try SyncedShop([Product("a")])
        let engine = shop.engine()
        await engine.startListening()
        try await hold("a", of: shop, engine)
        var receipts: [SyncReceipt] = []
        for data: [String: any DMCodableSendable] in [["price": 2.0], ["note": "new"], ["price": 3.0]] {
            receipts.append(try await engine.updateDocument(id: "a", data: data))
        }
        #expect(engine.pendingCount == 4)
        shop.remote.errors = [:]
        try await engine.retryNow()
        for receipt in receipts { try await receipt.confirmed() }
        // The first was sent before.
        #expect(
            shop.mock.writes == [.update(id: "a", fields: ["name"]), .update(id: "a", fields: ["note", "price"])])
        #expect(shop.remoteProducts == [Product("a", name: "held", price: 3, note: "new")])
        #expect(try await shop.stored() == shop.remoteProducts)
        let steps = try await shop.storage.history(Product.self, id: "a").filter { $0.commit.metadata.actor == nil }
        let prices = try steps.map { try $0.entity?.price }
        #expect(prices == [1, 2, 2, 3])
    }

    @Test("A new document and its changes are one save")
    func newDocumentIsOneSave() async throws {
        let shop = try SyncedShop()
        let engine = shop.engine()
        try await hold("z", of: shop, engine)
        try await engine.saveDocument(Product("a", name: "one"))
        try await engine.updateDocument(id: "a", data: ["name": "two"])
        try await engine.deleteDocument(id: "a")
        try await engine.saveDocument(Product("a", name: "three"))
        try await engine.updateDocument(id: "a", data: ["note": "four"])
        shop.remote.errors = [:]
        try await engine.retryNow()
        try await engine.settled()
        #expect(
            shop.mock.writes == [
                .save(Product("z", name: "held")), .save(Product("a", name: "two")), .delete(id: "a"),
                .save(Product("a", name: "three", note: "four")),
            ])
    }

    @Test("Merged writes are refused and discarded together")
    func mergedWritesAreRefusedTogether() async throws {
        let shop = try SyncedShop([Product("a", name: "Lamp")])
        let engine = shop.engine()
        await engine.startListening()
        try await hold("z", of: shop, engine)
        let first = try await engine.updateDocument(id: "a", data: ["price": 0.0])
        let second = try await engine.updateDocument(id: "a", data: ["name": "Light"])
        shop.remote.errors = ["a": RemoteError.rejected("too cheap")]
        try await engine.retryNow()
        for receipt in [first, second] {
            await #expect(throws: SyncWriteError.rejected("too cheap")) { try await receipt.confirmed() }
        }
        let parked = try #require(engine.parked.first)
        #expect(engine.parked.count == 1)
        #expect(parked.position == second.local.position)
        #expect(engine.pendingCount == 2)
        // What is made later isn't merged into it.
        try await engine.updateDocument(id: "a", data: ["note": "later"])
        shop.remote.errors = [:]
        try await engine.discard(parked)
        try await engine.settled()
        for receipt in [first, second] {
            await #expect(throws: SyncWriteError.discarded) { try await receipt.confirmed() }
        }
        #expect(shop.remoteProducts == [Product("a", name: "Lamp", note: "later"), Product("z", name: "held")])
        #expect(engine.currentCollection == shop.remoteProducts)
    }

    @Test("A restart changes nothing")
    func restartChangesNothing() async throws {
        try await withTemporaryFolder { folder in
            let url = folder.appendingPathComponent("shop.sqlite")
            let mock = MockRemoteCollectionService<Product>(collection: [Product("a")], delay: .zero)
            for part in 0..<3 {
                let shop = try SyncedShop(at: url, mock: mock)
                let engine = shop.engine()
                if part == 0 {
                    await engine.startListening()
                    try await hold("a", of: shop, engine)
                    try await engine.updateDocument(id: "a", data: ["price": 2.0])
                } else if part == 1 {
                    try await engine.updateDocument(id: "a", data: ["note": "new"])
                } else {
                    await engine.startListening()
                    try await engine.settled()
                    #expect(engine.currentCollection == [Product("a", name: "held", price: 2, note: "new")])
                    #expect(mock.collection == engine.currentCollection)
                }
                try await shop.storage.close()
            }
            #expect(mock.writes == [.update(id: "a", fields: ["name"]), .update(id: "a", fields: ["note", "price"])])
        }
    }
}
