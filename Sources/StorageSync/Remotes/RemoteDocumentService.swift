/// A remote that holds single documents, as ``DocumentSyncEngine`` uses it.
///
/// Conform your back end's client to it. Its errors determine what happens to a write: ``RemoteError`` reports
/// rejections, which are parked, and missing credentials; a ``RetryableError`` may request a delay; any other error is
/// considered temporary, and the write is sent again. If the answer to an accepted write is lost, the remote receives
/// the write again, so writes must be idempotent, like those that set values.
///
/// A document that can't be written as JSON, such as one with an infinity, isn't received: its row stays as it is, and
/// ``SyncStatus/unreadable`` names it.
///
/// Isolation: the main actor. A service should wait for its network off the main actor.
@MainActor
public protocol RemoteDocumentService<T>: Sendable {
    /// The type of the documents.
    associatedtype T: DataSyncModelProtocol

    /// The path of the documents, such as `users/42/settings`: it identifies the account that cached documents and
    /// unsent writes belong to. Nil while no user is signed in; nothing is read or sent then. Constant by default.
    var collectionPath: String? { get }
    /// The capabilities of the service; ``RemoteCapabilities/standard`` by default. Must be constant.
    var capabilities: RemoteCapabilities { get }

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
}

extension RemoteDocumentService {
    /// An empty path, for a remote without accounts.
    public var collectionPath: String? { "" }
    /// ``RemoteCapabilities/standard``.
    public var capabilities: RemoteCapabilities { .standard }
}
