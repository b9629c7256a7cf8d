public import Observation
internal import StorageCore

/// Synchronizes a collection of documents in the store with a remote.
///
/// ```swift
/// let productsSyncEngine = CollectionSyncEngine<Product>(remote: remote, managerKey: "products")
/// await productsSyncEngine.startListening()
/// try await productsSyncEngine.updateDocument(id: "product_123", data: ["price": 29.99])
/// ```
///
/// **Writes** are in the store when a call returns, whether online or offline, and are then sent in order for each
/// document. Writes made without the engine, such as `storage.save(product)`, are sent, too. Unsent writes survive the
/// process. A write that the remote rejects is parked (``SyncStatus/parked``): only later writes to the same document
/// wait for it.
///
/// **Conflicts.** Unless ``ConflictResolution`` says otherwise, the order in which writes reach the remote decides: if
/// two writers change a field, the later one wins, and a deletion wins over a change of the deleted document. Until a
/// write is sent, its fields are shown on top of the remote's state. Commits of the engine have `sync KEY` as their
/// actor, and an attribute `conflicts` that lists the documents that both sides have changed.
///
/// **Accounts.** Documents in the store belong to the remote's current path. When the path changes, they are removed
/// from the store before any document of the other account is added. Unsent writes are kept, and sent once the remote
/// has their path again.
///
/// The whole collection is fetched and kept: use it for bounded collections, such as a user's own.
///
/// Isolation: the main actor. Documents are encoded, stored and merged elsewhere.
@MainActor @Observable
public final class CollectionSyncEngine<T: DataSyncModelProtocol> {
    /// The logger of the engine's events; use it for events of your own.
    @ObservationIgnored public let logger: (any DataSyncLogger)?
    @ObservationIgnored private let controller: SyncController<T>

    /// Creates an engine, which opens the store on first use.
    ///
    /// - Parameters:
    ///   - remote: The remote collection.
    ///   - managerKey: Identifies the engine in the store and in its log; use a key for one engine only.
    ///   - enableLocalPersistence: Whether documents and unsent writes outlive the process, in the store set by
    ///     `withDatabaseContainer` or ``PersistenceContainer/configure(_:)``. If false, everything is kept in memory,
    ///     and unsent writes are lost with the process.
    ///   - conflictResolution: How to handle a document that another client changes while it has unsent writes here.
    ///   - logger: Receives the engine's events.
    public init(
        remote: some RemoteCollectionService<T>, managerKey: String, enableLocalPersistence: Bool = true,
        conflictResolution: ConflictResolution<T> = .lastWriterWins, logger: (any DataSyncLogger)? = nil
    ) {
        self.logger = logger
        controller = SyncController(
            RemoteAccess(remote), key: managerKey, persists: enableLocalPersistence, extent: .all,
            resolution: conflictResolution, logger: logger)
    }

    /// The stored documents, sorted by id; empty while no user is signed in.
    public var currentCollection: [T] { controller.shown }
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

extension CollectionSyncEngine {
    /// Fetches the collection and follows its changes until ``stopListening(clearCaches:)``.
    ///
    /// Returns when the collection is fetched, or when the remote can't be reached: the engine then retries by itself,
    /// as ``status`` shows. If the stored documents can't be read, nothing is fetched, and ``SyncStatus/lastError`` says
    /// why.
    public func startListening() async { try? await controller.listen() }

    /// Fetches the documents that match a query and follows their changes until ``stopListening(clearCaches:)``, for a
    /// collection that is too large to be kept whole.
    ///
    /// ```swift
    /// try await tasksSyncEngine.startListening { $0.where("project", isEqualTo: "apollo") }
    /// ```
    ///
    /// Documents that don't match the query stay in the store: those that were saved here or received before, and those
    /// that stop matching, in their new state. They are kept up to date as long as the remote's stream reports them. So
    /// ``currentCollection`` may contain documents that don't match; ``getDocuments(where:)`` filters it.
    ///
    /// A collection of a hub is always followed as a whole.
    ///
    /// Only one query is active: another call replaces it. The query isn't stored.
    ///
    /// - Parameter buildQuery: Adds conditions, but no limits or cursors. The only effect of an order is to exclude
    ///   documents without its field. If the remote can't answer queries, the whole collection is fetched, and
    ///   documents that don't match are dropped.
    /// - Throws: `StorageError` with `invalid-argument` for a query that can't be listened to, while no user is signed
    ///   in, or if there is no store. If the remote can't be reached, the engine retries by itself, as ``status``
    ///   shows.
    public func startListening(buildQuery: (QueryBuilder) -> QueryBuilder) async throws {
        try await controller.listen(query: buildQuery(QueryBuilder()))
    }

    /// Stops following the collection. Pending writes are still sent, and are kept in the store until then.
    ///
    /// - Parameter clearCaches: Whether to remove the documents from the store, in a commit of the engine; the remote
    ///   keeps them.
    public func stopListening(clearCaches: Bool = true) { controller.stopListening(clearCaches: clearCaches) }
}

// MARK: Reading

extension CollectionSyncEngine {
    /// Returns the stored documents, sorted by id.
    public func getCollection() -> [T] { controller.shown }

    /// Returns a stored document; nil if there is none.
    ///
    /// - Complexity: O(log *n*) in the number of documents.
    public func getDocument(id: String) -> T? { controller.shownDocument(id) }

    /// Returns the stored documents for which a condition holds.
    public func getDocuments(where isIncluded: (T) -> Bool) -> [T] { controller.shown.filter(isIncluded) }

    /// Returns the whole collection: from the store if it has any documents, otherwise from the remote.
    ///
    /// - Throws: `StorageError` with `invalid-argument` while no user is signed in, or if there is no store; errors of
    ///   the remote if it is asked.
    public func getCollectionAsync(behavior: FetchBehavior = .cachedOrFetch) async throws -> [T] {
        _ = try await controller.open()
        if behavior == .cachedOrFetch, !controller.shown.isEmpty { return controller.shown }
        controller.log(.getCollectionStart(key: controller.key))
        do {
            let documents = try await controller.ask { try await controller.access.getAll?() ?? [] }
            controller.log(.getCollectionSuccess(key: controller.key, count: documents.count))
            return documents
        } catch {
            controller.log(.getCollectionFail(key: controller.key, error: error))
            throw error
        }
    }

    /// Returns a document: from the store if it is there, otherwise from the remote. Works without listening.
    ///
    /// - Throws: ``RemoteError/notFound`` if neither has it; `StorageError` with `invalid-argument` while no user is
    ///   signed in, or if there is no store; errors of the remote.
    public func getDocumentAsync(id: String, behavior: FetchBehavior = .cachedOrFetch) async throws -> T {
        try await controller.fetch(id, behavior)
    }

    /// Returns the documents for which a condition holds: from the store if it has any documents, otherwise from the
    /// remote's collection.
    ///
    /// - Throws: The errors of ``getCollectionAsync(behavior:)``.
    public func getDocumentsAsync(
        where isIncluded: (T) -> Bool, behavior: FetchBehavior = .cachedOrFetch
    ) async throws -> [T] {
        try await getCollectionAsync(behavior: behavior).filter(isIncluded)
    }

    /// Returns the documents that match a query at the remote, to read part of a large collection.
    ///
    /// ```swift
    /// let few = try await productsSyncEngine.getDocumentsAsync {
    ///     $0.where("category", isEqualTo: "electronics").limit(to: 20)
    /// }
    /// ```
    ///
    /// - Throws: `StorageError` with `invalid-argument` for an invalid query, while no user is signed in, or if there is
    ///   no store; errors of the remote.
    public func getDocumentsAsync(buildQuery: (QueryBuilder) -> QueryBuilder) async throws -> [T] {
        let query = buildQuery(QueryBuilder())
        let count = query.getFilters().count
        controller.log(.getDocumentsQueryStart(key: controller.key, filterCount: count))
        do {
            let documents = try await controller.ask { try await controller.access.find?(query) ?? [] }
            controller.log(
                .getDocumentsQuerySuccess(key: controller.key, count: documents.count, filterCount: count))
            return documents
        } catch {
            controller.log(.getDocumentsQueryFail(key: controller.key, filterCount: count, error: error))
            throw error
        }
    }

    /// Returns a stream of the remote's document, now and after each change; nil while there is none.
    public func streamDocument(id: String) -> AsyncThrowingStream<T?, any Error> {
        controller.log(.streamDocumentStart(key: controller.key, documentId: id))
        return controller.access.streamDocument(id)
    }
}

// MARK: Writing

extension CollectionSyncEngine {
    /// Saves a document in the store, and sends it to the remote. Works without listening.
    ///
    /// - Parameter expected: A precondition that the document must meet, in the store and at the remote.
    /// - Returns: A receipt, whose ``SyncReceipt/confirmed()`` waits for the remote's answer.
    /// - Throws: `StorageError`: `invalid-value` for a document that can't be written as a JSON object, such as one with
    ///   an infinity; `invalid-argument` while no user is signed in, or if there is no store; `conflict` if the stored
    ///   document doesn't meet the precondition.
    @discardableResult
    public func saveDocument(
        _ document: T, expecting expected: SyncPrecondition<T> = .anything
    ) async throws -> SyncReceipt { try await controller.save(document, expecting: expected) }

    /// Changes some fields of a document in the store, and sends them to the remote. Works without listening; a
    /// document that isn't in the store is fetched first.
    ///
    /// - Parameters:
    ///   - data: The new values by the names of the encoded fields; nil removes an optional field.
    ///   - expected: A precondition that the document must meet, in the store and at the remote.
    /// - Returns: A receipt, whose ``SyncReceipt/confirmed()`` waits for the remote's answer.
    /// - Throws: `StorageError`: `not-found` if there is no such document, `invalid-value` for an unknown field or a
    ///   value of another type, `conflict` if the stored document doesn't meet the precondition, `invalid-argument`
    ///   while no user is signed in, or if there is no store; errors of the remote if the document must be fetched.
    @discardableResult
    public func updateDocument(
        id: String, data: [String: any DMCodableSendable], expecting expected: SyncPrecondition<T> = .anything
    ) async throws -> SyncReceipt { try await controller.update(id, data, expecting: expected) }

    /// Deletes a document in the store and at the remote.
    ///
    /// - Parameter expected: A precondition that the document must meet, in the store and at the remote.
    /// - Returns: A receipt, whose ``SyncReceipt/confirmed()`` waits for the remote's answer; nil if neither has such a
    ///   document.
    /// - Throws: `StorageError`: `conflict` if the stored document doesn't meet the precondition, `invalid-argument`
    ///   while no user is signed in, or if there is no store; errors of the remote if it must be asked.
    @discardableResult
    public func deleteDocument(
        id: String, expecting expected: SyncPrecondition<T> = .anything
    ) async throws -> SyncReceipt? { try await controller.delete(id, expecting: expected) }
}

// MARK: Sending

extension CollectionSyncEngine {
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
