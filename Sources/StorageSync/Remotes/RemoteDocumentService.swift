/// A remote that holds single documents, as ``DocumentSyncEngine`` uses it.
///
/// Conform a client of your back end to it. What it throws says what becomes of a write: ``RemoteError`` reports
/// rejections, which are
/// parked, and missing credentials; an error that is ``RetryableError`` may say how long to wait; any other error is taken for a
/// passing one, and the write is sent again. A remote that has taken a write and lost the answer gets it again, so writes are to be
/// idempotent, as those that set values are.
///
/// Isolation: the main actor. A service awaits its network elsewhere.
@MainActor
public protocol RemoteDocumentService<T>: Sendable {
    associatedtype T: DataSyncModelProtocol

    /// Where the documents are, such as `users/42/settings`: it names the account to which cached documents and unsent writes
    /// belong. Nil while nobody is signed in; nothing is read or sent then. The same text always where nothing else is said.
    var collectionPath: String? { get }
    /// What it can do; ``RemoteCapabilities/standard`` where nothing else is said. The same always.
    var capabilities: RemoteCapabilities { get }

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
}

extension RemoteDocumentService {
    public var collectionPath: String? { "" }
    public var capabilities: RemoteCapabilities { .standard }
}
