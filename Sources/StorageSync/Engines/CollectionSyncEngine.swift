public import Observation
internal import StorageCore

/// Keeps a collection of documents in the store equal to a remote's.
///
/// ```swift
/// let productsSyncEngine = CollectionSyncEngine<Product>(remote: remote, managerKey: "products")
/// await productsSyncEngine.startListening()
/// try await productsSyncEngine.updateDocument(id: "product_123", data: ["price": 29.99])
/// ```
///
/// **Writes** are in the store when a call returns, network or not, and are sent in their order for each document: also those that
/// were made by other means than the engine, such as `storage.save(product)`. What isn't sent yet survives the process. A write
/// that the remote refuses is parked (``SyncStatus/parked``) and holds back only later writes of its document.
///
/// **Conflicts.** Unless ``ConflictResolution`` says otherwise, the remote's order counts: of two writers of a field the later one wins, and a deletion wins over a change of the
/// deleted document. Until a write is sent, its fields are shown on top of what the remote says. Commits of the engine have
/// `sync KEY` as their actor, and name documents that were changed on both sides in the attribute `conflicts`.
///
/// **Accounts.** What is in the store belongs to the path that the remote answers. Where it answers another one, documents are taken
/// out of the store before any of the other account comes in; unsent writes stay, and are sent when their path is back.
///
/// The whole collection is fetched and kept: use it for bounded collections, such as a user's own.
///
/// Isolation: the main actor. Documents are encoded, stored and merged elsewhere.
@MainActor @Observable
public final class CollectionSyncEngine<T: DataSyncModelProtocol> {
    /// What logs the engine's events, for events of your own.
    @ObservationIgnored public let logger: (any DataSyncLogger)?
    @ObservationIgnored private let controller: SyncController<T>

    /// - Parameters:
    ///   - remote: Where the collection is.
    ///   - managerKey: Names the engine in the store and in its log; one engine for each key.
    ///   - enableLocalPersistence: Whether documents and unsent writes outlive the process. The store is the one of
    ///     `withDatabaseContainer`, or that of ``PersistenceContainer/configure(_:)``. Where it is false, all is kept in memory:
    ///     writes that weren't sent are lost with the process.
    ///   - conflictResolution: What becomes of a document that somebody else changes while it has unsent writes here.
    ///   - logger: Gets to know what the engine does.
    public init(
        remote: some RemoteCollectionService<T>, managerKey: String, enableLocalPersistence: Bool = true,
        conflictResolution: ConflictResolution<T> = .lastWriterWins, logger: (any DataSyncLogger)? = nil
    ) {
        self.logger = logger
        controller = SyncController(
            RemoteAccess(remote), key: managerKey, persists: enableLocalPersistence, extent: .all,
            resolution: conflictResolution, logger: logger)
    }

    /// The documents, by id. Empty while nobody is signed in.
    public var currentCollection: [T] { controller.shown }
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

extension CollectionSyncEngine {
    /// Fetches the collection, and follows its changes until ``stopListening(clearCaches:)``. Returns once it is fetched, or the
    /// remote couldn't be reached: then it is tried again by itself, and ``status`` says so.
    public func startListening() async { try? await controller.listen() }

    /// Fetches the documents that a query finds, and follows their changes until ``stopListening(clearCaches:)``: for a collection that
    /// is too large to be kept whole.
    ///
    /// ```swift
    /// try await tasksSyncEngine.startListening { $0.where("project", isEqualTo: "apollo") }
    /// ```
    ///
    /// Documents that the query doesn't find aren't taken out of the store: those that were saved here or received before stay, and so do
    /// those that leave the query, as what they have become. What the store has is kept as the remote has it for as long as the remote's
    /// stream reports it. So ``currentCollection`` may hold more than the query finds; ``getDocuments(where:)``
    /// distinguishes them.
    ///
    /// A collection of a hub is followed as a whole, whatever the query.
    ///
    /// Only one thing is listened to: another call takes the place of the one before. The query isn't stored.
    ///
    /// - Parameter buildQuery: Adds conditions, and no limits or cursors. An order has no effect, but that documents without its
    ///   field aren't found. A remote that can't answer queries is asked for the whole collection, of which the rest isn't kept.
    /// - Throws: `StorageError`: `invalid-argument` for a query that can't be listened to, while nobody is signed in, or where there is no store.
    ///   Not where the remote can't be reached: then it is tried again by itself, and ``status`` says so.
    public func startListening(buildQuery: (QueryBuilder) -> QueryBuilder) async throws {
        try await controller.listen(query: buildQuery(QueryBuilder()))
    }

    /// Stops to follow the collection. Writes are still sent; those that aren't sent yet stay in the store.
    ///
    /// - Parameter clearCaches: Whether the documents are taken out of the store: a commit of the engine, which isn't sent.
    public func stopListening(clearCaches: Bool = true) { controller.stopListening(clearCaches: clearCaches) }
}

// MARK: Reading

extension CollectionSyncEngine {
    /// The documents that are in the store, by id.
    public func getCollection() -> [T] { controller.shown }

    /// A document that is in the store.
    /// - Complexity: O(log *n*) in the documents.
    public func getDocument(id: String) -> T? { controller.shownDocument(id) }

    /// Those documents in the store for which a condition holds.
    public func getDocuments(where isIncluded: (T) -> Bool) -> [T] { controller.shown.filter(isIncluded) }

    /// The whole collection: that of the store where it has any, the remote's otherwise.
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

    /// A document: that of the store where it has it, the remote's otherwise. Needs no listener.
    ///
    /// - Throws: ``RemoteError/notFound`` where neither has it; what the remote throws.
    public func getDocumentAsync(id: String, behavior: FetchBehavior = .cachedOrFetch) async throws -> T {
        try await controller.fetch(id, behavior)
    }

    /// Those documents for which a condition holds: of the store where it has any, of the remote's collection otherwise.
    public func getDocumentsAsync(
        where isIncluded: (T) -> Bool, behavior: FetchBehavior = .cachedOrFetch
    ) async throws -> [T] {
        try await getCollectionAsync(behavior: behavior).filter(isIncluded)
    }

    /// The documents that the remote finds, so that a part of a large collection can be had without all of it.
    ///
    /// ```swift
    /// let few = try await productsSyncEngine.getDocumentsAsync { $0.where("category", isEqualTo: "electronics").limit(to: 20) }
    /// ```
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

    /// A document as the remote has it, and after each change; nil where there is none.
    public func streamDocument(id: String) -> AsyncThrowingStream<T?, any Error> {
        controller.log(.streamDocumentStart(key: controller.key, documentId: id))
        return controller.access.streamDocument(id)
    }
}

// MARK: Writing

extension CollectionSyncEngine {
    /// Saves a document in the store, and sends it. Needs no listener.
    ///
    /// - Parameter expected: What the document must be like, here and at the remote.
    /// - Throws: `StorageError`: `invalid-argument` while nobody is signed in, or where there is no store; `conflict` where the store's document
    ///   isn't as expected.
    @discardableResult
    public func saveDocument(
        _ document: T, expecting expected: SyncPrecondition<T> = .anything
    ) async throws -> SyncReceipt { try await controller.save(document, expecting: expected) }

    /// Changes some fields of a document in the store, and sends those. Needs no listener; a document that the store doesn't have is
    /// fetched first.
    ///
    /// - Parameters:
    ///   - data: Values by the names of fields as they are encoded; nil removes an optional one.
    ///   - expected: What the document must be like, here and at the remote.
    /// - Throws: `StorageError`: `not-found` where there is no such document, `invalid-value` for a field that it doesn't have or a
    ///   value of another type, `conflict` where the store's document isn't as expected. What the remote throws, where the document has to be fetched.
    @discardableResult
    public func updateDocument(
        id: String, data: [String: any DMCodableSendable], expecting expected: SyncPrecondition<T> = .anything
    ) async throws -> SyncReceipt { try await controller.update(id, data, expecting: expected) }

    /// Deletes a document in the store, and at the remote.
    ///
    /// - Parameter expected: What the document must be like, here and at the remote.
    /// - Returns: nil where neither has such a document.
    @discardableResult
    public func deleteDocument(
        id: String, expecting expected: SyncPrecondition<T> = .anything
    ) async throws -> SyncReceipt? { try await controller.delete(id, expecting: expected) }
}

// MARK: Sending

extension CollectionSyncEngine {
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
