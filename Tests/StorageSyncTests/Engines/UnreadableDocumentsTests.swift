import Foundation
import StorageSync
import TestSupport
import Testing

/// Documents of a service that JSON can't express, such as those with an infinity.
@MainActor @Suite(.timeLimit(.minutes(10))) struct UnreadableDocumentsTests {
    private let infinite = Product("a", price: .infinity)

    private func unreadable(_ engine: CollectionSyncEngine<Product>) -> [String] {
        engine.status.unreadable.map(\.documentId)
    }

    @Test("Listening starts with the other documents, and status names the unreadable one")
    func atTheBeginning() async throws {
        let shop = try SyncedShop([infinite, Product("b")])
        let engine = shop.engine()
        await engine.startListening()
        #expect(engine.status.connection == .connected)
        #expect(engine.currentCollection == [Product("b")])
        #expect(unreadable(engine) == ["a"])
        #expect(engine.status.unreadable.first?.reason.contains("can't be written as JSON") == true)
        shop.mock.change(Product("a", price: 2))
        try await eventually { engine.getDocument(id: "a")?.price == 2 && engine.status.unreadable.isEmpty }
    }

    @Test("The row of the unreadable document stays as it is, and listening continues")
    func whileListening() async throws {
        let shop = try SyncedShop([Product("a"), Product("b")])
        let engine = shop.engine()
        var fetches = 0
        shop.remote.willFetch = { fetches += 1 }
        await engine.startListening()
        shop.mock.change(infinite)
        shop.mock.change(Product("b", note: "theirs"))
        try await eventually { unreadable(engine) == ["a"] && engine.getDocument(id: "b")?.note == "theirs" }
        #expect(engine.getDocument(id: "a") == Product("a"))
        shop.mock.change(Product("a", note: "theirs"))
        try await eventually { engine.getDocument(id: "a")?.note == "theirs" && engine.status.unreadable.isEmpty }
        #expect(fetches == 1)
    }

    @Test("The unreadable document is still reported after the engine has opened its store again")
    func reopening() async throws {
        let shop = try SyncedShop([infinite, Product("b")])
        let engine = shop.engine()
        await engine.startListening()
        try await engine.discardPending()
        #expect(unreadable(engine) == ["a"])
        shop.mock.change(Product("a", price: 2))
        try await eventually { engine.getDocument(id: "a")?.price == 2 && engine.status.unreadable.isEmpty }
    }

    @Test("A deletion without a listener is noticed at the next start")
    func deletion() async throws {
        let shop = try SyncedShop([infinite, Product("b")])
        let engine = shop.engine()
        await engine.startListening()
        engine.stopListening(clearCaches: false)
        shop.mock.remove(id: "a")
        await engine.startListening()
        #expect(engine.status.unreadable.isEmpty)
        #expect(engine.currentCollection == [Product("b")])
    }

    @Test("A part of the collection is followed despite the unreadable document, and despite a row that can't be read")
    func listeningToQuery() async throws {
        let shop = try SyncedShop([Product("a"), Product("b", note: "listed"), Product("c")])
        let engine = shop.engine()
        await engine.startListening()
        engine.stopListening(clearCaches: false)
        var fetches = 0
        shop.remote.willFetch = { fetches += 1 }
        try await engine.startListening { $0.where("note", isEqualTo: "listed") }
        shop.mock.change(infinite)
        try await eventually { unreadable(engine) == ["a"] }
        try await shop.storage.write { tx in try tx.execute("UPDATE products SET price = 'abc' WHERE id = 'c'") }
        try await eventually { engine.parked.map(\.documentId) == ["c"] }
        shop.mock.change(Product("c", note: "theirs"))
        try await eventually { unreadable(engine) == ["a", "c"] }
        #expect(fetches == 1)
    }

    @Test("With a query, the unreadable document is reported until it is deleted", arguments: [true, false])
    func deletionWithQuery(isListening: Bool) async throws {
        let (shop, engine) = try await listingInfinite(Product("b", note: "listed"))
        if !isListening { engine.stopListening(clearCaches: false) }
        shop.mock.remove(id: "a")
        if !isListening { try await engine.startListening { $0.where("note", isEqualTo: "listed") } }
        try await eventually { engine.status.unreadable.isEmpty }
        #expect(engine.currentCollection == [Product("b", note: "listed")])
    }

    @Test(
        "With a query, the unreadable document is received once it is corrected, even if it doesn't match",
        arguments: [true, false])
    func correctionWithQuery(isListening: Bool) async throws {
        let (shop, engine) = try await listingInfinite()
        if !isListening { engine.stopListening(clearCaches: false) }
        shop.mock.change(Product("a", price: 2))
        if !isListening { try await engine.startListening { $0.where("note", isEqualTo: "listed") } }
        try await eventually { engine.status.unreadable.isEmpty }
        try await eventually { engine.getDocument(id: "a")?.price == 2 }
    }

    @Test("With a query, the unreadable document's correction is received even if its row doesn't match")
    func correctionOfRowWithQuery() async throws {
        let shop = try SyncedShop([Product("a"), Product("b")])
        let engine = shop.engine()
        await engine.startListening()
        shop.mock.change(infinite)
        try await eventually { unreadable(engine) == ["a"] }
        engine.stopListening(clearCaches: false)
        shop.mock.change(Product("a", price: 2))
        try await engine.startListening { $0.where("note", isEqualTo: "listed") }
        try await eventually { engine.status.unreadable.isEmpty && engine.getDocument(id: "a")?.price == 2 }
    }

    /// An engine that follows a part of a collection, and has received a document that JSON can't express.
    private func listingInfinite(
        _ products: Product...
    ) async throws -> (shop: SyncedShop, engine: CollectionSyncEngine<Product>) {
        let shop = try SyncedShop(products)
        let engine = shop.engine()
        try await engine.startListening { $0.where("note", isEqualTo: "listed") }
        shop.mock.change(infinite)
        try await eventually { unreadable(engine) == ["a"] }
        return (shop, engine)
    }

    @Test("The engine of a single unreadable document names it")
    func singleDocument() async throws {
        let mock = MockRemoteDocumentService(document: infinite, delay: .zero)
        let engine = DocumentSyncEngine<Product>(remote: mock, managerKey: "product", enableLocalPersistence: false)
        try await engine.startListening(documentId: "a")
        #expect(engine.currentDocument == nil)
        try await eventually { engine.status.unreadable.map(\.documentId) == ["a"] }
        mock.change(Product("a"))
        try await eventually { engine.currentDocument == Product("a") }
    }

    @Test("A write that expects no document doesn't replace the unreadable document")
    func precondition() async throws {
        let shop = try SyncedShop()
        let engine = shop.engine()
        await engine.startListening()
        try await shop.hold(engine)
        let receipt = try await engine.saveDocument(Product("a", name: "mine"), expecting: .absent)
        shop.mock.change(infinite)
        try await shop.release(engine)
        await #expect(throws: SyncWriteError.self) { try await receipt.confirmed() }
        #expect(engine.parked.map(\.documentId) == ["a"])
        #expect(shop.remoteProducts.first == infinite)
    }

    @Test("Changing the unreadable document says why it can't be received")
    func changing() async throws {
        let shop = try SyncedShop([infinite])
        let engine = shop.engine()
        let error = await #expect(throws: StorageError.self) {
            try await engine.updateDocument(id: "a", data: ["name": "Lamp"])
        }
        #expect(error?.code == .invalidValue)
        #expect(try await shop.stored().isEmpty)
    }

    @Test("Deleting the unreadable document says that it must be saved whole first, and works then")
    func deleting() async throws {
        let shop = try SyncedShop([infinite])
        let engine = shop.engine()
        let error = await #expect(throws: StorageError.self) { try await engine.deleteDocument(id: "a") }
        #expect(error?.code == .invalidValue)
        #expect(error?.remedy.contains("Save it whole") == true)
        try await engine.saveDocument(Product("a"))
        try await engine.deleteDocument(id: "a")
        try await engine.settled()
        #expect(shop.remoteProducts.isEmpty)
    }

    @Test("Changing or deleting a document that the table refuses says why, instead of that there is none")
    func changingRefusedDocument() async throws {
        let shop = try SyncedShop([Product("a", name: "Lamp")])
        let engine = shop.engine()
        try await engine.saveDocument(Product("b", name: "Lamp"))
        try await shop.storage.write { tx in try tx.execute("CREATE UNIQUE INDEX products_by_name ON products(name)") }
        for _ in 1...2 {
            let change = await #expect(throws: StorageError.self) {
                try await engine.updateDocument(id: "a", data: ["price": 2.0])
            }
            #expect(change?.code == .invalidValue)
            let deletion = await #expect(throws: StorageError.self) { try await engine.deleteDocument(id: "a") }
            #expect(deletion?.code == .invalidValue)
        }
        #expect(try await shop.stored() == [Product("b", name: "Lamp")])
        // Once the other one has another name, it is received.
        try await engine.updateDocument(id: "b", data: ["name": "Bulb"])
        try await engine.updateDocument(id: "a", data: ["price": 2.0])
        #expect(try await shop.stored() == [Product("a", name: "Lamp", price: 2), Product("b", name: "Bulb")])
    }

    @Test("The mock's search finds the other documents")
    func searchingMock() async throws {
        let mock = MockRemoteCollectionService(collection: [infinite, Product("b", price: 2)], delay: .zero)
        #expect(try await mock.getDocuments(query: QueryBuilder().where("price", isGreaterThan: 1)).map(\.id) == ["b"])
    }

    @Test("A search finds the other documents if the engine filters them")
    func searching() async throws {
        let mock = MockRemoteCollectionService(collection: [infinite, Product("b", price: 2)], delay: .zero)
        let remote = LimitedRemote(mock, RemoteCapabilities.standard.subtracting(.queries))
        let engine = CollectionSyncEngine<Product>(
            remote: remote, managerKey: "products", enableLocalPersistence: false)
        let found = try await engine.getDocumentsAsync { $0.where("price", isGreaterThan: 1) }
        #expect(found.map(\.id) == ["b"])
    }
}
