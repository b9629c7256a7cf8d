import Foundation
import StorageEntities
import StorageSync
import StorageTesting
import TestSupport
import Testing

@StorageEntity
struct Product: DataSyncModelProtocol, Equatable {
    var id: String
    var name: String
    var price: Double
    var note: String?

    init(_ id: String, name: String = "", price: Double = 1, note: String? = nil) {
        self.id = id
        self.name = name
        self.price = price
        self.note = note
    }

    init(id: String, name: String, price: Double, note: String?) {
        self.init(id, name: name, price: price, note: note)
    }
}

/// A model that is no entity.
struct Profile: DataSyncModelProtocol, Equatable {
    struct Address: Codable, Equatable {
        var city: String
    }

    var id: String
    var name: String
    var address: Address?
    var tags: [String] = []
    var born: Date?
}

/// A mock that can refuse single documents, and counts what is running.
@MainActor
final class PickyRemote<T: DataSyncModelProtocol>: RemoteCollectionService {
    let mock: MockRemoteCollectionService<T>
    /// What calls for a document throw.
    var errors: [String: any Error] = [:]
    /// Errors that are thrown after the mock has done what was asked: an answer that got lost.
    var lostAnswers = 0
    private(set) var attempts: [String] = []
    /// What happens before the collection is fetched.
    var willFetch: () async throws -> Void = {}
    /// What happens before a document is written.
    var willWrite: (_ id: String) async -> Void = { _ in }
    /// What the next fetches of single documents throw.
    var getErrors: [any Error] = []
    /// Makes the document that is fetched; nil for the mock's.
    var willGet: ((_ id: String) -> T)?

    init(_ mock: MockRemoteCollectionService<T>) { self.mock = mock }

    var collectionPath: String? { mock.collectionPath }

    private func attempt(_ id: String, _ body: () async throws -> Void) async throws {
        attempts.append(id)
        await willWrite(id)
        if let error = errors[id] { throw error }
        try await body()
        if lostAnswers > 0 {
            lostAnswers -= 1
            throw RemoteError.unavailable()
        }
    }

    func getCollection() async throws -> [T] {
        try await willFetch()
        return try await mock.getCollection()
    }
    func getDocuments(query: QueryBuilder) async throws -> [T] {
        try await willFetch()
        return try await mock.getDocuments(query: query)
    }
    func getDocument(id: String) async throws -> T {
        if !getErrors.isEmpty { throw getErrors.removeFirst() }
        if let willGet { return willGet(id) }
        return try await mock.getDocument(id: id)
    }
    func saveDocument(_ model: T) async throws {
        try await attempt(model.id) { try await mock.saveDocument(model) }
    }
    func updateDocument(id: String, data: [String: any DMCodableSendable]) async throws {
        try await attempt(id) { try await mock.updateDocument(id: id, data: data) }
    }
    func deleteDocument(id: String) async throws { try await attempt(id) { try await mock.deleteDocument(id: id) } }
    func streamDocument(id: String) -> AsyncThrowingStream<T?, any Error> { mock.streamDocument(id: id) }
    func streamCollectionUpdates() -> (
        updates: AsyncThrowingStream<T, any Error>, deletions: AsyncThrowingStream<String, any Error>
    ) { mock.streamCollectionUpdates() }
}

/// Who is signed in.
@MainActor
final class Account {
    var user: String?
    nonisolated init(_ user: String?) { self.user = user }
}

/// A store of products and a remote.
@MainActor
struct SyncedShop {
    let container: PersistenceContainer
    let mock: MockRemoteCollectionService<Product>
    let remote: PickyRemote<Product>

    init(
        at url: URL? = nil, _ products: [Product] = [], mock: MockRemoteCollectionService<Product>? = nil,
        config: StorageConfig? = nil
    ) throws {
        container =
            if let url { try .file(at: url, config: config) { $0.autoSchema(ProductRecord.self) } } else {
                try .inMemory { $0.autoSchema(ProductRecord.self) }
            }
        self.mock = mock ?? MockRemoteCollectionService(collection: products, delay: .zero)
        remote = PickyRemote(self.mock)
    }

    var storage: Storage { container.storage }

    func engine(logger: (any DataSyncLogger)? = nil) -> CollectionSyncEngine<Product> {
        withDatabaseContainer(container) {
            CollectionSyncEngine(remote: remote, managerKey: "products", logger: logger)
        }
    }

    func stored() async throws -> [Product] { try await storage.query(Product.self).orderBy(\.id).fetch() }

    var remoteProducts: [Product] { mock.collection.sorted { $0.id < $1.id } }

    /// Makes an engine wait with a write of "z", so that what is written next isn't sent yet.
    func hold(_ engine: CollectionSyncEngine<Product>, with name: String = "") async throws {
        remote.errors["z"] = RemoteError.unavailable(retryAfter: .seconds(600))
        try await engine.saveDocument(Product("z", name: name))
        try await eventually { if case .waiting = engine.status.connection { true } else { false } }
    }

    /// Lets the engine send what was written since `hold`.
    func release(_ engine: CollectionSyncEngine<Product>) async throws {
        remote.errors = [:]
        try await engine.retryNow()
    }
}

extension CollectionSyncEngine {
    /// Returns once nothing is pending.
    func settled(file: StaticString = #fileID, line: Int = #line) async throws {
        try await eventually(file: file, line: line) { self.pendingCount == 0 }
    }
}
