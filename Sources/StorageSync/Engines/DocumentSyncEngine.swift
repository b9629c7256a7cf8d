public import Observation
internal import StorageCore

/// Synchronizes one document in the store with a remote.
///
/// ```swift
/// let userSyncEngine = DocumentSyncEngine<UserModel>(remote: remote, managerKey: "user")
/// try await userSyncEngine.startListening(documentId: "user_123")
/// try await userSyncEngine.updateDocument(data: ["name": "Anna"])
/// ```
///
/// Writes, conflicts and accounts work as in ``CollectionSyncEngine``: this is an engine for a collection, of which it
/// follows only one document. Other documents are read and written by their ids.
///
/// Isolation: the main actor. Documents are encoded, stored and merged elsewhere.
@MainActor @Observable
public final class DocumentSyncEngine<T: DataSyncModelProtocol> {
    /// The logger of the engine's events; use it for events of your own.
    @ObservationIgnored public let logger: (any DataSyncLogger)?
    @ObservationIgnored private let controller: SyncController<T>

    /// Creates an engine, which opens the store on first use.
    ///
    /// - Parameters: The same as for ``CollectionSyncEngine``.
    public init(
        remote: some RemoteDocumentService<T>, managerKey: String, enableLocalPersistence: Bool = true,
        conflictResolution: ConflictResolution<T> = .lastWriterWins, logger: (any DataSyncLogger)? = nil
    ) {
        self.logger = logger
        controller = SyncController(
            RemoteAccess(remote), key: managerKey, persists: enableLocalPersistence, extent: .document(nil),
            resolution: conflictResolution, logger: logger)
    }

    /// The document; nil if there is none, or no user is signed in.
    public var currentDocument: T? { controller.shown.first }
    /// The status of synchronization.
    public var status: SyncStatus { controller.status }
    /// A stream of the current ``status`` and each later one; a slow reader receives only the latest.
    public var statuses: AsyncStream<SyncStatus> { controller.statuses() }
    /// The number of writes that the remote hasn't accepted yet.
    public var pendingCount: Int { controller.status.pendingCount }
    /// The writes that the remote has rejected, and those that can't be sent.
    public var parked: [SyncStatus.ParkedWrite] { controller.status.parked }
}

// MARK: Listening

extension DocumentSyncEngine {
    /// Follows a document until ``stopListening(clearCaches:)``, and remembers its id.
    ///
    /// Returns when the document is received, or when the remote can't be reached: the engine then retries by itself,
    /// as ``status`` shows.
    ///
    /// - Throws: `StorageError` with `invalid-argument` while no user is signed in, or if there is no store.
    public func startListening(documentId: String) async throws { try await controller.listen(to: documentId) }

    /// Stops following the document. Pending writes are still sent, and are kept in the store until then.
    ///
    /// - Parameter clearCaches: Whether to remove documents from the store and forget the id, in a commit of the
    ///   engine; the remote keeps the documents.
    public func stopListening(clearCaches: Bool = true) { controller.stopListening(clearCaches: clearCaches) }
}

// MARK: Reading

extension DocumentSyncEngine {
    /// Returns the stored document; nil if there is none.
    public func getDocument() -> T? { controller.shown.first }

    /// Returns the stored document.
    ///
    /// - Throws: `StorageError` with the code `not-found` if there is none.
    public func getDocumentOrThrow() throws -> T {
        guard let document = controller.shown.first else {
            throw StorageError(
                .notFound, "The sync engine \"\(controller.key)\" has no document.",
                remedy: "Listen to one, or use getDocumentAsync(), which fetches it.")
        }
        return document
    }

    /// Returns a document: from the store if it is there, otherwise from the remote. Works without listening.
    ///
    /// - Parameter id: The document's id; by default that of the followed document.
    /// - Throws: ``RemoteError/notFound`` if neither has it; `StorageError` with `not-found` if there is no id, and
    ///   with `invalid-argument` while no user is signed in, or if there is no store; errors of the remote.
    public func getDocumentAsync(id: String? = nil, behavior: FetchBehavior = .cachedOrFetch) async throws -> T {
        try await controller.fetch(try id ?? getDocumentId(), behavior)
    }

    /// Returns the id of the followed document, or of the one that was followed when the previous process ended.
    ///
    /// - Throws: `StorageError` with the code `not-found` if there is none.
    public func getDocumentId() throws -> String {
        // Loads the stored id, if nothing was read yet.
        _ = controller.shown
        guard case .document(let id?) = controller.extent else {
            throw StorageError(
                .notFound, "The sync engine \"\(controller.key)\" listens to no document.",
                remedy: "Call startListening(documentId:), or name the document with id:.")
        }
        return id
    }

    /// Returns a stream of the remote's document, now and after each change; nil while there is none.
    public func streamDocument(id: String) -> AsyncThrowingStream<T?, any Error> {
        controller.log(.streamDocumentStart(key: controller.key, documentId: id))
        return controller.access.streamDocument(id)
    }
}

// MARK: Writing

extension DocumentSyncEngine {
    /// Saves a document in the store, and sends it to the remote. Works without listening.
    ///
    /// - Parameter expected: A precondition that the document must meet, in the store and at the remote.
    /// - Returns: A receipt, whose ``SyncReceipt/confirmed()`` waits for the remote's answer.
    /// - Throws: The errors of ``CollectionSyncEngine/saveDocument(_:expecting:)``.
    @discardableResult
    public func saveDocument(
        _ document: T, expecting expected: SyncPrecondition<T> = .anything
    ) async throws -> SyncReceipt { try await controller.save(document, expecting: expected) }

    /// Changes some fields of a document in the store, and sends them to the remote. Works without listening; a
    /// document that isn't in the store is fetched first.
    ///
    /// - Parameters:
    ///   - id: The document's id; by default that of the followed document.
    ///   - data: The new values by the names of the encoded fields; nil removes an optional field.
    ///   - expected: A precondition that the document must meet, in the store and at the remote.
    /// - Returns: A receipt, whose ``SyncReceipt/confirmed()`` waits for the remote's answer.
    /// - Throws: The errors of ``CollectionSyncEngine/updateDocument(id:data:expecting:)``; `not-found` if there is no
    ///   id.
    @discardableResult
    public func updateDocument(
        id: String? = nil, data: [String: any DMCodableSendable], expecting expected: SyncPrecondition<T> = .anything
    ) async throws -> SyncReceipt {
        try await controller.update(try id ?? getDocumentId(), data, expecting: expected)
    }

    /// Deletes a document in the store and at the remote.
    ///
    /// - Parameters:
    ///   - id: The document's id; by default that of the followed document.
    ///   - expected: A precondition that the document must meet, in the store and at the remote.
    /// - Returns: A receipt, whose ``SyncReceipt/confirmed()`` waits for the remote's answer; nil if neither has such a
    ///   document.
    /// - Throws: The errors of ``CollectionSyncEngine/deleteDocument(id:expecting:)``; `not-found` if there is no id.
    @discardableResult
    public func deleteDocument(
        id: String? = nil, expecting expected: SyncPrecondition<T> = .anything
    ) async throws -> SyncReceipt? {
        try await controller.delete(try id ?? getDocumentId(), expecting: expected)
    }
}

// MARK: Sending

extension DocumentSyncEngine {
    /// Retries now, without waiting for the back-off to end.
    ///
    /// - Throws: `StorageError` with `invalid-argument` while no user is signed in, or if there is no store; errors of
    ///   the store: call this again once it can be written; `CancellationError` if another user signs in, or another
    ///   engine of the same name is opened, before the decision is saved.
    public func retryNow() async throws { try await controller.decide(.retryNow) }

    /// Discards all writes that the remote hasn't accepted, including parked ones; their documents revert to the
    /// remote's state. A write that is being sent may still reach the remote, and is then received like a change by
    /// others.
    ///
    /// - Throws: `StorageError` with `invalid-argument` while no user is signed in, or if there is no store; errors of
    ///   the store.
    public func discardPending() async throws { try await controller.discardPending() }

    /// Starts over as a new device, after the remote has halted the engine (``SyncStatus/Connection/halted(_:)``).
    ///
    /// Everything is received again. Waiting writes are sent; those that were being sent are parked, because it isn't
    /// known whether the remote has them.
    ///
    /// - Throws: `StorageError` with `invalid-argument` while no user is signed in, or if there is no store; errors of
    ///   the store.
    public func startOver() async throws { try await controller.startOver() }

    /// Sends a parked write again, and then the later writes to its document.
    ///
    /// If another client has deleted the document, the write creates it again. A hub accepts this only from an engine
    /// that has received the deletion, so start listening first.
    ///
    /// - Throws: `StorageError` with `invalid-argument` while no user is signed in, or if there is no store; errors of
    ///   the store: call this again once it can be written; `CancellationError` if another user signs in, or another
    ///   engine of the same name is opened, before the decision is saved.
    public func retry(_ write: SyncStatus.ParkedWrite) async throws {
        try await controller.decide(.retry(position: write.position), on: write)
    }

    /// Discards a parked write: its document reverts to the remote's state, with later writes applied to it.
    ///
    /// - Throws: `StorageError` with `invalid-argument` while no user is signed in, or if there is no store; errors of
    ///   the store: call this again once it can be written; `CancellationError` if another user signs in, or another
    ///   engine of the same name is opened, before the decision is saved.
    public func discard(_ write: SyncStatus.ParkedWrite) async throws {
        try await controller.decide(.discard(position: write.position), on: write)
    }

    /// Reports new credentials, after the remote has refused the previous ones.
    ///
    /// - Throws: `StorageError` with `invalid-argument` while no user is signed in, or if there is no store.
    public func credentialsChanged() async throws { try await controller.take(.authorized) }
}
