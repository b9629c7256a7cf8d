/// A remote that holds a collection of documents, as ``CollectionSyncEngine`` uses it.
///
/// Errors, retries and isolation are the same as for ``RemoteDocumentService``.
@MainActor
public protocol RemoteCollectionService<T>: Sendable {
    /// The type of the documents.
    associatedtype T: DataSyncModelProtocol

    /// The path of the collection, such as `users/42/watchlist`: it identifies the account that cached documents and
    /// unsent writes belong to. Nil while no user is signed in; nothing is read or sent then. Constant by default.
    var collectionPath: String? { get }
    /// The capabilities of the service; ``RemoteCapabilities/standard`` by default. Must be constant.
    var capabilities: RemoteCapabilities { get }

    /// Fetches every document.
    ///
    /// - Throws: Any error, see ``RemoteDocumentService``.
    func getCollection() async throws -> [T]
    /// Fetches the documents that match a query.
    ///
    /// - Throws: Any error, see ``RemoteDocumentService``.
    func getDocuments(query: QueryBuilder) async throws -> [T]
    /// Fetches a document.
    ///
    /// - Throws: ``RemoteError/notFound`` if there is none; any other error, see ``RemoteDocumentService``.
    func getDocument(id: String) async throws -> T
    /// Creates or replaces a document.
    ///
    /// - Throws: Any error, see ``RemoteDocumentService``.
    func saveDocument(_ model: T) async throws
    /// Changes some fields of an existing document. A value that encodes as null removes its field.
    ///
    /// - Throws: ``RemoteError/notFound`` if there is none; any other error, see ``RemoteDocumentService``.
    func updateDocument(id: String, data: [String: any DMCodableSendable]) async throws
    /// Deletes a document, if it exists.
    ///
    /// - Throws: Any error, see ``RemoteDocumentService``.
    func deleteDocument(id: String) async throws
    /// Returns a stream of a document's current state, and its state after each change; nil while there is none.
    func streamDocument(id: String) -> AsyncThrowingStream<T?, any Error>
    /// Returns streams of the documents created or changed after the call, and of the ids of deleted ones.
    func streamCollectionUpdates() -> (
        updates: AsyncThrowingStream<T, any Error>, deletions: AsyncThrowingStream<String, any Error>
    )
    /// Returns streams like ``streamCollectionUpdates()``, but of the documents that match a query.
    ///
    /// By default, these are the streams of the whole collection, which the engine filters. A document that stops
    /// matching may be reported as deleted: the engine then fetches it.
    func streamCollectionUpdates(query: QueryBuilder) -> (
        updates: AsyncThrowingStream<T, any Error>, deletions: AsyncThrowingStream<String, any Error>
    )
}

extension RemoteCollectionService {
    /// An empty path, for a remote without accounts.
    public var collectionPath: String? { "" }
    /// ``RemoteCapabilities/standard``.
    public var capabilities: RemoteCapabilities { .standard }

    /// Returns the streams of the whole collection, which the engine filters.
    public func streamCollectionUpdates(query: QueryBuilder) -> (
        updates: AsyncThrowingStream<T, any Error>, deletions: AsyncThrowingStream<String, any Error>
    ) { streamCollectionUpdates() }
}
