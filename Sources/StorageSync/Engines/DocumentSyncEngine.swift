public import Observation
internal import StorageCore

/// Keeps one document in the store equal to a remote's.
///
/// ```swift
/// let userSyncEngine = DocumentSyncEngine<UserModel>(remote: remote, managerKey: "user")
/// try await userSyncEngine.startListening(documentId: "user_123")
/// try await userSyncEngine.updateDocument(data: ["name": "Anna"])
/// ```
///
/// Writes, conflicts and accounts are those of ``CollectionSyncEngine``: this is an engine of a collection of which one document is
/// followed. Other documents are read and written by their ids.
///
/// Isolation: the main actor. Documents are encoded, stored and merged elsewhere.
@MainActor @Observable
public final class DocumentSyncEngine<T: DataSyncModelProtocol> {
    /// What logs the engine's events, for events of your own.
    @ObservationIgnored public let logger: (any DataSyncLogger)?
    @ObservationIgnored private let controller: SyncController<T>

    /// - Parameters: As those of ``CollectionSyncEngine``.
    public init(
        remote: some RemoteDocumentService<T>, managerKey: String, enableLocalPersistence: Bool = true,
        conflictResolution: ConflictResolution<T> = .lastWriterWins, logger: (any DataSyncLogger)? = nil
    ) {
        self.logger = logger
        controller = SyncController(
            RemoteAccess(remote), key: managerKey, persists: enableLocalPersistence, extent: .document(nil),
            resolution: conflictResolution, logger: logger)
    }

    /// The document; nil where there is none, or nobody is signed in.
    public var currentDocument: T? { controller.shown.first }
    /// The status of synchronisation.
    public var status: SyncStatus { controller.status }
    /// ``status`` now, and whenever it changes.
    public var statuses: AsyncStream<SyncStatus> { controller.statuses() }
    /// How many writes the remote hasn't taken yet.
    public var pendingCount: Int { controller.status.pendingCount }
    /// The writes that the remote has refused.
    public var parked: [SyncStatus.ParkedWrite] { controller.status.parked }
}

// MARK: Listening

extension DocumentSyncEngine {
    /// Follows a document until ``stopListening(clearCaches:)``, and remembers its id. Returns once it was received, or the remote
    /// couldn't be reached: then it is tried again by itself, and ``status`` says so.
    ///
    /// - Throws: `StorageError`: `invalid-argument` while nobody is signed in, or where there is no store.
    public func startListening(documentId: String) async throws { try await controller.listen(to: documentId) }

    /// Stops to follow the document. Writes are still sent; those that aren't sent yet stay in the store.
    ///
    /// - Parameter clearCaches: Whether documents are taken out of the store, and the id is forgotten: a commit of the engine, which
    ///   isn't sent.
    public func stopListening(clearCaches: Bool = true) { controller.stopListening(clearCaches: clearCaches) }
}

// MARK: Reading

extension DocumentSyncEngine {
    /// The document as the store has it.
    public func getDocument() -> T? { controller.shown.first }

    /// The document as the store has it.
    ///
    /// - Throws: `StorageError` with the code `not-found` where it has none.
    public func getDocumentOrThrow() throws -> T {
        guard let document = controller.shown.first else {
            throw StorageError(
                .notFound, "The sync engine \"\(controller.key)\" has no document.",
                remedy: "Listen to one, or use getDocumentAsync(), which fetches it.")
        }
        return document
    }

    /// A document: that of the store where it has it, the remote's otherwise. Needs no listener.
    ///
    /// - Parameter id: The document that is listened to where nil.
    /// - Throws: ``RemoteError/notFound`` where neither has it; what the remote throws.
    public func getDocumentAsync(id: String? = nil, behavior: FetchBehavior = .cachedOrFetch) async throws -> T {
        try await controller.fetch(try id ?? getDocumentId(), behavior)
    }

    /// The id of the document that is listened to, or was when the process before ended.
    ///
    /// - Throws: `StorageError` with the code `not-found` where there is none.
    public func getDocumentId() throws -> String {
        // Reads what the store remembers, where nothing was read yet.
        _ = controller.shown
        guard case .document(let id?) = controller.extent else {
            throw StorageError(
                .notFound, "The sync engine \"\(controller.key)\" listens to no document.",
                remedy: "Call startListening(documentId:), or name the document with id:.")
        }
        return id
    }

    /// A document as the remote has it, and after each change; nil where there is none.
    public func streamDocument(id: String) -> AsyncThrowingStream<T?, any Error> {
        controller.log(.streamDocumentStart(key: controller.key, documentId: id))
        return controller.access.streamDocument(id)
    }
}

// MARK: Writing

extension DocumentSyncEngine {
    /// Saves a document in the store, and sends it. Needs no listener.
    ///
    /// - Parameter expected: What the document must be like, here and at the remote.
    @discardableResult
    public func saveDocument(
        _ document: T, expecting expected: SyncPrecondition<T> = .anything
    ) async throws -> SyncReceipt { try await controller.save(document, expecting: expected) }

    /// Changes some fields of a document in the store, and sends those. Needs no listener; a document that the store doesn't have is
    /// fetched first.
    ///
    /// - Parameters:
    ///   - id: The document that is listened to where nil.
    ///   - data: Values by the names of fields as they are encoded; nil removes an optional one.
    ///   - expected: What the document must be like, here and at the remote.
    /// - Throws: As ``CollectionSyncEngine/updateDocument(id:data:expecting:)``.
    @discardableResult
    public func updateDocument(
        id: String? = nil, data: [String: any DMCodableSendable], expecting expected: SyncPrecondition<T> = .anything
    ) async throws -> SyncReceipt {
        try await controller.update(try id ?? getDocumentId(), data, expecting: expected)
    }

    /// Deletes a document in the store, and at the remote.
    ///
    /// - Parameters:
    ///   - id: The document that is listened to where nil.
    ///   - expected: What the document must be like, here and at the remote.
    /// - Returns: nil where neither has such a document.
    @discardableResult
    public func deleteDocument(
        id: String? = nil, expecting expected: SyncPrecondition<T> = .anything
    ) async throws -> SyncReceipt? {
        try await controller.delete(try id ?? getDocumentId(), expecting: expected)
    }
}

// MARK: Sending

extension DocumentSyncEngine {
    /// Tries again at once what was to be tried later.
    public func retryNow() async throws { try await controller.take(.retryNow) }

    /// Gives up every write that the remote hasn't taken, whether it waits or is parked; the documents are what the remote has again. One
    /// that is being sent may reach the remote all the same, and is received then like what others write.
    public func discardPending() async throws { try await controller.discardPending() }

    /// Continues with a remote that has halted the engine (``SyncStatus/Connection/halted(_:)``), as a device that it
    /// doesn't know. All is
    /// received again. Writes that wait are sent; those that were being sent are parked, because nobody knows whether the remote has them.
    public func startOver() async throws { try await controller.startOver() }

    /// Sends a parked write again, and then the later ones of its document.
    public func retry(_ write: SyncStatus.ParkedWrite) async throws {
        try await controller.take(.retry(position: write.position))
    }

    /// Gives a parked write up: its document becomes what the remote has, with the later writes on top.
    public func discard(_ write: SyncStatus.ParkedWrite) async throws {
        try await controller.take(.discard(position: write.position))
    }

    /// Says that there are other credentials, after the remote has refused those before.
    public func credentialsChanged() async throws { try await controller.take(.authorized) }
}
