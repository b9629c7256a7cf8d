import Foundation
import StorageEntities
import StorageKit
import StorageTesting
import TestSupport
import Testing

@testable import StorageSync

/// Engines of one document on a hub, and documents that are read and written by their ids.
@MainActor @Suite(.timeLimit(.minutes(10))) struct HubDocumentTests {
    @MainActor private struct Device {
        let hub: FaultyHub
        let container: PersistenceContainer
        let engine: DocumentSyncEngine<Product>

        init(_ hub: FaultyHub) throws {
            self.hub = hub
            container = try .inMemory { $0.autoSchema(ProductRecord.self) }
            engine = withDatabaseContainer(container) {
                DocumentSyncEngine<Product>(remote: HubGoods(hub), managerKey: "product")
            }
        }

        func stored() async throws -> [Product] {
            try await container.storage.query(Product.self).orderBy(\.id).fetch()
        }
    }

    private func hub(_ ids: String...) async throws -> FaultyHub {
        let hub = try await FaultyHub(TemporaryStore())
        for id in ids { try await hub.save(Product(id, name: "from the hub")) }
        return hub
    }

    @Test("A document is followed")
    func followingDocument() async throws {
        let hub = try await hub("a", "b")
        let device = try Device(hub)
        try await device.engine.startListening(documentId: "a")
        #expect(device.engine.currentDocument?.name == "from the hub")
        #expect(try await device.stored().map(\.id) == ["a"], "no other document comes")
        try await device.engine.updateDocument(data: ["price": 2.5]).confirmed()
        #expect(try await hub.fields(of: "a")["price"] == "2.5")
        try await hub.save(Product("a", name: "changed"))
        try await eventually { device.engine.currentDocument?.name == "changed" }
        _ = try await hub.hub.write(.delete, to: "a", of: "goods", as: .full)
        try await eventually { device.engine.currentDocument == nil }
    }

    @Test("Other documents are read and written by their ids", arguments: [true, false])
    func otherDocumentsById(isListening: Bool) async throws {
        let hub = try await hub("a", "b", "c", "d")
        let device = try Device(hub)
        if isListening { try await device.engine.startListening(documentId: "a") }
        try await device.engine.updateDocument(id: "b", data: ["price": 3.5]).confirmed()
        try await device.engine.saveDocument(Product("e")).confirmed()
        try await device.engine.deleteDocument(id: "c")?.confirmed()
        #expect(try await hub.ids() == ["a", "b", "d", "e"])
        #expect(try await hub.fields(of: "b") == ["id": #""b""#, "name": #""from the hub""#, "price": "3.5"])
        await #expect(throws: StorageError.self) {
            try await device.engine.updateDocument(id: "none", data: ["price": 3.5])
        }
        // What was written stays, whatever comes of the followed document.
        try await hub.save(Product("a", name: "changed"))
        if isListening { try await eventually { device.engine.currentDocument?.name == "changed" } }
        #expect(try await device.stored().map(\.id) == (isListening ? ["a", "b", "e"] : ["b", "e"]))
        #expect(try await device.stored().first { $0.id == "b" }?.price == 3.5)
        #expect(device.engine.parked.isEmpty)
        #expect(device.engine.pendingCount == 0)
    }

    @Test("Another document is followed instead")
    func followingAnotherDocument() async throws {
        let hub = try await hub("a", "b")
        let device = try Device(hub)
        try await device.engine.startListening(documentId: "a")
        try await device.engine.updateDocument(data: ["price": 2.5]).confirmed()
        try await device.engine.startListening(documentId: "b")
        #expect(device.engine.currentDocument?.id == "b")
        try await hub.save(Product("b", name: "changed"))
        try await eventually { device.engine.currentDocument?.name == "changed" }
        try await device.engine.startListening(documentId: "none")
        #expect(device.engine.currentDocument == nil)
        try await device.engine.saveDocument(Product("none", name: "now")).confirmed()
        #expect(device.engine.currentDocument?.name == "now")
    }

    /// The next page has neither its creation nor its deletion.
    @Test("A document that is gone before a listener returns disappears")
    func goneBeforeListening() async throws {
        let hub = try await hub("a")
        let device = try Device(hub)
        try await device.engine.startListening(documentId: "b")
        device.engine.stopListening(clearCaches: false)
        for id in ["b", "c"] { try await device.engine.saveDocument(Product(id)).confirmed() }
        #expect(device.engine.currentDocument?.id == "b")
        _ = try await hub.hub.write(.delete, to: "b", of: "goods", as: .full)
        try await device.engine.startListening(documentId: "b")
        try await eventually { device.engine.currentDocument == nil }
        #expect(try await device.stored().map(\.id) == ["c"])
    }

    /// Somebody has deleted it and made it again: what is changed on that is no conflict.
    @Test("A document that was created again can be changed")
    func changingRecreatedDocument() async throws {
        let hub = try await hub("a", "b")
        _ = try await hub.hub.write(.delete, to: "b", of: "goods", as: .full)
        try await hub.save(Product("b", name: "again"))
        let device = try Device(hub)
        try await device.engine.updateDocument(
            id: "b", data: ["price": 2.5], expecting: .unchanged(since: Product("b", name: "again"))
        ).confirmed()
        #expect(try await hub.fields(of: "b")["price"] == "2.5")
        #expect(device.engine.parked.isEmpty)
    }
}
