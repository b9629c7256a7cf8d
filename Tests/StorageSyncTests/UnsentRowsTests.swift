import Foundation
import StorageEntities
import StorageSync
import TestSupport
import Testing

/// Sources of an entity that a sync engine keeps.
@MainActor @Suite struct UnsentRowsTests {
    private func source(_ shop: SyncedShop) -> QuerySource<Product> {
        QuerySource(Product.all(), name: "products").remote { [mock = shop.mock] in try await mock.getCollection() }
    }

    @Test("Rows with pending writes stay")
    func pendingRowsStay() async throws {
        let shop = try SyncedShop([Product("a", name: "Lamp"), Product("b"), Product("d")])
        try await shop.container.refresh(source(shop))
        let engine = shop.engine()
        try await shop.hold(engine)
        try await engine.updateDocument(id: "a", data: ["name": "Mine"])
        try await engine.deleteDocument(id: "b")
        try await engine.saveDocument(Product("c"))
        shop.mock.change(Product("a", name: "Theirs"))
        shop.mock.change(Product("d", name: "Theirs"))
        try await shop.container.refresh(source(shop))
        #expect(
            try await shop.stored() == [
                Product("a", name: "Mine"), Product("c"), Product("d", name: "Theirs"), Product("z"),
            ])
        try await shop.release(engine)
        try await engine.settled()
        try await shop.container.refresh(source(shop))
        #expect(try await shop.stored() == shop.remoteProducts)
        #expect(shop.remoteProducts.map(\.id) == ["a", "c", "d", "z"])
    }

    /// The answer is of before, although the row doesn't wait any more when it comes.
    @Test("A row that is sent while the answer is on its way stays")
    func rowSentDuringFetch() async throws {
        let shop = try SyncedShop([Product("a", name: "Lamp")])
        try await shop.container.refresh(source(shop))
        let engine = shop.engine()
        try await shop.hold(engine)
        try await engine.updateDocument(id: "a", data: ["name": "Mine"])
        let answers = Gate()
        let slow = QuerySource(Product.all(), name: "products").remote { [mock = shop.mock] in
            let rows = try await mock.getCollection()
            await answers.wait()
            return rows
        }
        async let refresh: Void = shop.container.refresh(slow)
        try await eventually { answers.isReached }
        try await shop.release(engine)
        try await engine.settled()
        answers.open()
        try await refresh
        #expect(try await shop.stored() == [Product("a", name: "Mine"), Product("z")])
        #expect(shop.remoteProducts == [Product("a", name: "Mine"), Product("z")])
    }

    @Test("Fetched rows aren't sent")
    func fetchedRowsAreNotSent() async throws {
        let shop = try SyncedShop([Product("a"), Product("b")])
        try await shop.storage.save(Product("own"))
        let upsert = QuerySource(Product.all(), name: "products").remote(merge: .upsert) { [mock = shop.mock] in
            try await mock.getCollection()
        }
        try await shop.container.refresh(upsert)
        let engine = shop.engine()
        try await engine.saveDocument(Product("n")).confirmed()
        try await engine.settled()
        #expect(shop.remote.attempts == ["own", "n"])
        // Neither are those that a refresh changes or deletes behind the engine's back.
        shop.mock.change(Product("a", name: "Theirs"))
        shop.mock.remove(id: "b")
        try await shop.container.refresh(source(shop))
        try await engine.saveDocument(Product("m")).confirmed()
        try await engine.settled()
        #expect(shop.remote.attempts == ["own", "n", "m"])
        #expect(try await shop.stored() == shop.remoteProducts)
    }
}
