import StorageKit
import StorageSync

/// A document of an engine whose remote refuses everything.
private struct Draft: DataSyncModelProtocol {
    var id: String
    var text: String
}

@MainActor
private final class RefusingRemote: RemoteCollectionService {
    private let mock = MockRemoteCollectionService<Draft>(collection: [], delay: .zero)

    nonisolated init() {}

    var collectionPath: String? { "drafts" }
    func getCollection() async throws -> [Draft] { [] }
    func getDocuments(query: QueryBuilder) async throws -> [Draft] { [] }
    func getDocument(id: String) async throws -> Draft { throw RemoteError.notFound }
    func saveDocument(_ model: Draft) async throws { throw RemoteError.rejected("no drafts here") }
    func updateDocument(id: String, data: [String: any DMCodableSendable]) async throws {
        throw RemoteError.rejected("no drafts here")
    }
    func deleteDocument(id: String) async throws { throw RemoteError.rejected("no drafts here") }
    func streamDocument(id: String) -> AsyncThrowingStream<Draft?, any Error> { mock.streamDocument(id: id) }
    func streamCollectionUpdates() -> (
        updates: AsyncThrowingStream<Draft, any Error>, deletions: AsyncThrowingStream<String, any Error>
    ) { mock.streamCollectionUpdates() }
}

extension Operation {
    /// What the tool does to the outbox of an engine, of which a write is parked.
    static let ofTheOutbox = ["retry", "discard"].map { action in
        Operation(
            name: "tool-outbox-\(action)", opens: false,
            prepare: { test in
                let storage = try LabStore.open(test.path)
                try await test.acknowledge {
                    try await park(in: storage)
                    return storage.head
                }
                try await storage.close()
            }
        ) { test in try await test.tool("outbox", action, "d1", "-s", test.path, "--yes") }
    }

    @MainActor
    private static func park(in storage: Storage) async throws {
        let engine = withDatabaseContainer(PersistenceContainer(storage)) {
            CollectionSyncEngine<Draft>(remote: RefusingRemote(), managerKey: "drafts")
        }
        try await engine.saveDocument(Draft(id: "d1", text: "one"))
        for await status in engine.statuses where !status.parked.isEmpty { break }
    }
}
