/// A remote collection in memory, for tests and previews.
///
/// ```swift
/// let remote = MockRemoteCollectionService(collection: [keyboard, mouse], delay: .zero)
/// remote.change(trackball)  // what another device does
/// remote.failure = RemoteError.unavailable()  // no network from now on
/// ```
///
/// It does what a remote does: updates are merged by top-level keys, queries follow Firestore's rules, and any number of
/// streams see each change, whoever makes it. A call that is cancelled while it waits has done nothing.
///
/// - Complexity: O(*n*) in the documents for each call.
@MainActor
public final class MockRemoteCollectionService<T: DataSyncModelProtocol>: RemoteCollectionService {
    private let remote: MockRemote<T>

    /// - Parameters:
    ///   - collection: What the remote holds to begin with. Of several documents with an id, the first one counts.
    ///   - collectionPath: Asked with each call; while it is nil, calls throw ``RemoteError/unauthorized``. All paths have the
    ///     same documents.
    ///   - delay: How long each call waits before the remote answers.
    public nonisolated init(
        collection: [T] = [], collectionPath: @escaping @MainActor @Sendable () -> String? = { "" },
        delay: Duration = .milliseconds(500)
    ) {
        remote = MockRemote(collection, path: collectionPath, delay: delay)
    }

    /// What the remote holds, in the order in which documents were created.
    public var collection: [T] { remote.documents }
    /// The writes that have arrived, in their order, also those that were rejected. What fails by ``failure``, or for want of a
    /// path, hasn't arrived.
    public var writes: [MockRemoteWrite<T>] { remote.writes }
    /// Thrown by every call and stream while it is set. Setting it ends the open streams with it.
    public var failure: (any Error)? {
        get { remote.failure }
        set { remote.failure = newValue }
    }
    public var collectionPath: String? { remote.path() }
    /// How many streams are open.
    package var listenerCount: Int { remote.listenerCount }

    /// Creates or replaces a document, as another device would. Works while ``failure`` is set.
    public func change(_ model: T) { remote.change(model) }

    /// Deletes a document, as another device would; there may be none. Works while ``failure`` is set.
    public func remove(id: String) { remote.remove(id) }

    public func getCollection() async throws -> [T] {
        try await remote.answer()
        return remote.documents
    }

    /// Fetches the documents that a query finds, by Firestore's rules.
    ///
    /// - Throws: `StorageError` with the code `invalid-argument` for a query that makes no sense.
    public func getDocuments(query: QueryBuilder) async throws -> [T] {
        try await remote.answer()
        return try query.apply(to: remote.documents)
    }

    public func getDocument(id: String) async throws -> T {
        try await remote.answer()
        return try remote.found(id)
    }

    public func saveDocument(_ model: T) async throws {
        try await remote.answer()
        remote.save(model)
    }

    /// Merges fields into a document, by the top-level keys of its JSON.
    ///
    /// - Throws: ``RemoteError/notFound`` where there is no document, ``RemoteError/rejected(_:)`` where it wouldn't be one any
    ///   more, or would have another id.
    public func updateDocument(id: String, data: [String: any DMCodableSendable]) async throws {
        try await remote.answer()
        try remote.update(id, data)
    }

    public func deleteDocument(id: String) async throws {
        try await remote.answer()
        remote.delete(id)
    }

    public func streamDocument(id: String) -> AsyncThrowingStream<T?, any Error> { remote.streamDocument(id) }

    public func streamCollectionUpdates() -> (
        updates: AsyncThrowingStream<T, any Error>, deletions: AsyncThrowingStream<String, any Error>
    ) {
        (remote.streamUpdates(), remote.streamDeletions())
    }
}
