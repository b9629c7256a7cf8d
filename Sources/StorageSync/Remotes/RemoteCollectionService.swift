/// A remote that holds a collection of documents, as ``CollectionSyncEngine`` uses it.
///
/// Errors, retries and isolation are those of ``RemoteDocumentService``.
@MainActor
public protocol RemoteCollectionService<T>: Sendable {
    associatedtype T: DataSyncModelProtocol

    /// Where the collection is, such as `users/42/watchlist`: it names the account to which cached documents and unsent writes
    /// belong. Nil while nobody is signed in; nothing is read or sent then. The same text always where nothing else is said.
    var collectionPath: String? { get }
    /// What it can do; ``RemoteCapabilities/standard`` where nothing else is said. The same always.
    var capabilities: RemoteCapabilities { get }

    /// Fetches every document.
    func getCollection() async throws -> [T]
    /// Fetches the documents that a query finds.
    func getDocuments(query: QueryBuilder) async throws -> [T]
    /// Fetches a document.
    ///
    /// - Throws: ``RemoteError/notFound`` where there is none.
    func getDocument(id: String) async throws -> T
    /// Creates a document, or replaces it.
    func saveDocument(_ model: T) async throws
    /// Changes some fields of a document that there is. A value that encodes as null removes its field.
    func updateDocument(id: String, data: [String: any DMCodableSendable]) async throws
    /// Deletes a document; there may be none.
    func deleteDocument(id: String) async throws
    /// A document as it is, and after each change; nil where there is none.
    func streamDocument(id: String) -> AsyncThrowingStream<T?, any Error>
    /// Documents that are created or changed, and ids of those that are deleted, from the call on.
    func streamCollectionUpdates() -> (
        updates: AsyncThrowingStream<T, any Error>, deletions: AsyncThrowingStream<String, any Error>
    )
    /// The same for the documents that a query finds: those of ``streamCollectionUpdates()`` where nothing else is said, of which the
    /// engine takes what it needs. What isn't found any more may be reported as a deletion: the engine asks for the document.
    func streamCollectionUpdates(query: QueryBuilder) -> (
        updates: AsyncThrowingStream<T, any Error>, deletions: AsyncThrowingStream<String, any Error>
    )
}

extension RemoteCollectionService {
    public var collectionPath: String? { "" }
    public var capabilities: RemoteCapabilities { .standard }

    public func streamCollectionUpdates(query: QueryBuilder) -> (
        updates: AsyncThrowingStream<T, any Error>, deletions: AsyncThrowingStream<String, any Error>
    ) { streamCollectionUpdates() }
}
