import Foundation
import StorageSync
import TestSupport
import Testing

/// What a remote can't do is seen, and made up for where that can be.
@MainActor @Suite(.timeLimit(.minutes(10))) struct CapabilityTests {
    private let mock = MockRemoteCollectionService(
        collection: [Product("a", price: 1), Product("b", price: 2), Product("c", price: 3)], delay: .zero)

    private func engine(
        _ remote: LimitedRemote, logger: (any DataSyncLogger)? = nil
    ) -> CollectionSyncEngine<Product> {
        CollectionSyncEngine(remote: remote, managerKey: "products", enableLocalPersistence: false, logger: logger)
    }

    @Test("A service that declares nothing has the standard capabilities")
    func standardCapabilities() {
        #expect(mock.capabilities == .standard)
        #expect(MockRemoteDocumentService<Product>().capabilities == .standard)
        #expect(RemoteCapabilities.standard.description == "changeStreams, deletionStreams, queries, partialUpdates")
    }

    @Test("Missing capabilities are in the status and reported once")
    func reportsMissingCapabilities() async throws {
        let recorder = EventRecorder()
        let engine = engine(LimitedRemote(mock, [.changeStreams, .conditionalWrites]), logger: recorder)
        let missing: RemoteCapabilities = [.deletionStreams, .queries, .partialUpdates, .idempotencyKeys]
        #expect(engine.status.missingCapabilities == missing)
        await engine.startListening()
        try await engine.saveDocument(Product("d"))
        await engine.startListening()
        #expect(engine.status.missingCapabilities == missing)
        let logged = recorder.events.filter { $0.eventName == "products_remoteLimited" }
        #expect(logged.count == 1)
        #expect(logged.first?.type == .info)
        #expect(
            logged.first?.parameters?["missing_capabilities"] as? String
                == "deletionStreams, queries, partialUpdates, idempotencyKeys")
    }

    @Test("Nothing is reported of a remote that can do everything")
    func allCapabilities() async throws {
        let recorder = EventRecorder()
        let all: RemoteCapabilities = [.standard, .idempotencyKeys, .conditionalWrites]
        let engine = engine(LimitedRemote(mock, all), logger: recorder)
        await engine.startListening()
        #expect(engine.status.missingCapabilities.isEmpty)
        #expect(!recorder.events.contains { $0.eventName.hasSuffix("remoteLimited") })
    }

    @Test("Without streams the collection is fetched on listening")
    func withoutStreams() async throws {
        let remote = LimitedRemote(mock, RemoteCapabilities.standard.subtracting(.changeStreams))
        let engine = engine(remote)
        await engine.startListening()
        #expect(engine.currentCollection.count == 3)
        #expect(remote.streamCount == 0)
        mock.change(Product("d"))
        mock.remove(id: "a")
        // Time for a change that must not come.
        try await Task.sleep(for: .milliseconds(50))
        #expect(engine.currentCollection.map(\.id) == ["a", "b", "c"])
        await engine.startListening()
        #expect(engine.currentCollection.map(\.id) == ["b", "c", "d"])
    }

    @Test("Without deletion streams changes are still followed")
    func withoutDeletionStreams() async throws {
        let engine = engine(LimitedRemote(mock, RemoteCapabilities.standard.subtracting(.deletionStreams)))
        await engine.startListening()
        mock.remove(id: "a")
        mock.change(Product("b", price: 9))
        try await eventually { engine.getDocument(id: "b")?.price == 9 }
        #expect(engine.getDocument(id: "a") != nil)
        await engine.startListening()
        #expect(engine.getDocument(id: "a") == nil)
    }

    @Test("Without queries the whole collection is searched")
    func withoutQueries() async throws {
        let remote = LimitedRemote(mock, RemoteCapabilities.standard.subtracting(.queries))
        let found = try await engine(remote).getDocumentsAsync { query in
            query.where("price", isGreaterThan: 1).order(by: "price", descending: true).limit(to: 1)
        }
        #expect(found.map(\.id) == ["c"])
        #expect(remote.queryCount == 0)
    }

    @Test("Without partial updates the whole document is saved")
    func withoutPartialUpdates() async throws {
        let engine = engine(LimitedRemote(mock, RemoteCapabilities.standard.subtracting(.partialUpdates)))
        await engine.startListening()
        mock.failure = RemoteError.unavailable()
        try await engine.updateDocument(id: "a", data: ["name": "Lamp"])
        // What another device has changed meanwhile is kept.
        mock.change(Product("a", price: 7))
        mock.failure = nil
        try await engine.retryNow()
        try await engine.settled()
        #expect(mock.writes == [.save(Product("a", name: "Lamp", price: 7))])
        try await engine.updateDocument(id: "b", data: ["price": 5.0])
        mock.remove(id: "b")
        try await eventually { engine.parked.map(\.documentId) == ["b"] || engine.pendingCount == 0 }
    }

    @Test("Without streams a document engine shows the document as fetched")
    func documentWithoutStreams() async throws {
        let documents = LimitedDocuments(MockRemoteDocumentService(document: Product("a"), delay: .zero))
        let engine = DocumentSyncEngine<Product>(
            remote: documents, managerKey: "product", enableLocalPersistence: false)
        #expect(engine.status.missingCapabilities == [.changeStreams, .idempotencyKeys, .conditionalWrites])
        try await engine.startListening(documentId: "a")
        #expect(engine.currentDocument == Product("a"))
        documents.mock.change(Product("a", price: 9))
        try await engine.startListening(documentId: "a")
        try await eventually { engine.currentDocument?.price == 9 }
        documents.mock.remove(id: "a")
        try await engine.startListening(documentId: "a")
        try await eventually { engine.currentDocument == nil }
    }
}

/// A mock that can do less, and counts what it is asked.
@MainActor
final class LimitedRemote: RemoteCollectionService {
    let mock: MockRemoteCollectionService<Product>
    let capabilities: RemoteCapabilities
    private(set) var queryCount = 0
    private(set) var streamCount = 0
    private(set) var fetchedIds: [String] = []

    init(_ mock: MockRemoteCollectionService<Product>, _ capabilities: RemoteCapabilities) {
        self.mock = mock
        self.capabilities = capabilities
    }

    var collectionPath: String? { mock.collectionPath }
    func getCollection() async throws -> [Product] { try await mock.getCollection() }
    func getDocuments(query: QueryBuilder) async throws -> [Product] {
        queryCount += 1
        return try await mock.getDocuments(query: query)
    }
    func getDocument(id: String) async throws -> Product {
        fetchedIds.append(id)
        return try await mock.getDocument(id: id)
    }
    func saveDocument(_ model: Product) async throws { try await mock.saveDocument(model) }
    func updateDocument(id: String, data: [String: any DMCodableSendable]) async throws {
        try await mock.updateDocument(id: id, data: data)
    }
    func deleteDocument(id: String) async throws { try await mock.deleteDocument(id: id) }
    func streamDocument(id: String) -> AsyncThrowingStream<Product?, any Error> { mock.streamDocument(id: id) }
    func streamCollectionUpdates() -> (
        updates: AsyncThrowingStream<Product, any Error>, deletions: AsyncThrowingStream<String, any Error>
    ) {
        streamCount += 1
        return mock.streamCollectionUpdates()
    }
}

@MainActor
final class LimitedDocuments: RemoteDocumentService {
    let mock: MockRemoteDocumentService<Product>
    let capabilities: RemoteCapabilities = .partialUpdates

    init(_ mock: MockRemoteDocumentService<Product>) { self.mock = mock }

    var collectionPath: String? { mock.collectionPath }
    func getDocument(id: String) async throws -> Product { try await mock.getDocument(id: id) }
    func saveDocument(_ model: Product) async throws { try await mock.saveDocument(model) }
    func updateDocument(id: String, data: [String: any DMCodableSendable]) async throws {
        try await mock.updateDocument(id: id, data: data)
    }
    func deleteDocument(id: String) async throws { try await mock.deleteDocument(id: id) }
    func streamDocument(id: String) -> AsyncThrowingStream<Product?, any Error> {
        Issue.record("A stream is opened of a service that has none.")
        return mock.streamDocument(id: id)
    }
}
