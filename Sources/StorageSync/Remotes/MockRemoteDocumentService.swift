/// A remote with single documents in memory, for tests and previews.
///
/// ```swift
/// let remote = MockRemoteDocumentService(document: settings, delay: .zero)
/// remote.change(otherSettings)  // what another device does
/// remote.failure = RemoteError.unavailable()  // the network is down
/// ```
///
/// It behaves like a remote: updates are merged by top-level keys, and any number of streams see each change from any
/// source. A call that is cancelled while it waits has no effect.
@MainActor
public final class MockRemoteDocumentService<T: DataSyncModelProtocol>: RemoteDocumentService {
    private let remote: MockRemote<T>

    /// Creates a remote.
    ///
    /// - Parameters:
    ///   - document: The initial document; nil for none.
    ///   - collectionPath: The path of the documents, evaluated on each call; while it is nil, calls throw
    ///     ``RemoteError/unauthorized``. All paths have the same documents.
    ///   - delay: How long each call waits before the remote answers.
    public nonisolated init(
        document: T? = nil, collectionPath: @escaping @MainActor @Sendable () -> String? = { "" },
        delay: Duration = .milliseconds(500)
    ) {
        remote = MockRemote(document.map { [$0] } ?? [], path: collectionPath, delay: delay)
    }

    /// The remote's documents, in the order in which they were created.
    public var documents: [T] { remote.documents }
    /// The writes that have arrived, in order, including rejected ones. Writes that failed because of ``failure`` or a
    /// missing path haven't arrived.
    public var writes: [MockRemoteWrite<T>] { remote.writes }
    /// The error that every call and stream throws; nil for none. Setting it also ends the open streams with it.
    public var failure: (any Error)? {
        get { remote.failure }
        set { remote.failure = newValue }
    }
    /// The path given by the initializer's closure.
    public var collectionPath: String? { remote.path() }
    /// The number of open streams.
    package var listenerCount: Int { remote.listenerCount }

    /// Creates or replaces a document, as another device would. Works while ``failure`` is set.
    public func change(_ model: T) { remote.change(model) }

    /// Deletes a document, if it exists, as another device would. Works while ``failure`` is set.
    public func remove(id: String) { remote.remove(id) }

    /// Fetches a document.
    ///
    /// - Throws: ``RemoteError/notFound`` if there is none; ``failure``; ``RemoteError/unauthorized`` without a path;
    ///   `CancellationError`.
    public func getDocument(id: String) async throws -> T {
        try await remote.answer()
        return try remote.found(id)
    }

    /// Creates or replaces a document.
    ///
    /// - Throws: ``failure``; ``RemoteError/unauthorized`` without a path; `CancellationError`.
    public func saveDocument(_ model: T) async throws {
        try await remote.answer()
        remote.save(model)
    }

    /// Merges fields into a document, by the top-level keys of its JSON.
    ///
    /// - Throws: ``RemoteError/notFound`` if there is no document, ``RemoteError/rejected(_:)`` if the result doesn't
    ///   decode or has another id; ``failure``; ``RemoteError/unauthorized`` without a path.
    public func updateDocument(id: String, data: [String: any DMCodableSendable]) async throws {
        try await remote.answer()
        try remote.update(id, data)
    }

    /// Deletes a document, if it exists.
    ///
    /// - Throws: ``failure``; ``RemoteError/unauthorized`` without a path; `CancellationError`.
    public func deleteDocument(id: String) async throws {
        try await remote.answer()
        remote.delete(id)
    }

    /// Returns a stream of a document's current state, and its state after each change.
    public func streamDocument(id: String) -> AsyncThrowingStream<T?, any Error> { remote.streamDocument(id) }
}
