/// The common interface to both kinds of remote services.
struct RemoteAccess<T: DataSyncModelProtocol>: Sendable {
    enum Change: Sendable {
        case saved(T)
        case deleted(id: String)

        var id: String {
            switch self {
            case .saved(let document): document.id
            case .deleted(let id): id
            }
        }

        /// The document after the change; nil if there is none.
        ///
        /// Throws `invalid-value` if it can't be written as JSON.
        var fields: DocumentFields? {
            get throws { if case .saved(let document) = self { try DocumentFields(encoding: document) } else { nil } }
        }
    }

    let capabilities: RemoteCapabilities
    /// Capabilities that the engine uses and the service lacks.
    let missing: RemoteCapabilities
    let path: @MainActor @Sendable () -> String?
    let save: @MainActor @Sendable (T) async throws -> Void
    let update: @MainActor @Sendable (_ id: String, [String: any DMCodableSendable]) async throws -> Void
    let delete: @MainActor @Sendable (_ id: String) async throws -> Void
    let get: @MainActor @Sendable (_ id: String) async throws -> T
    let streamDocument: @MainActor @Sendable (_ id: String) -> AsyncThrowingStream<T?, any Error>
    /// Fetches all documents; nil for a remote of single documents.
    let getAll: (@MainActor @Sendable () async throws -> [T])?
    /// Fetches the documents that match a query; nil for a remote of single documents.
    let find: (@MainActor @Sendable (QueryBuilder) async throws -> [T])?
    /// Changes from now on, among the documents that match the query, if any. For a remote of single documents: the
    /// current state of one document, and its changes.
    let listen: @MainActor @Sendable (_ id: String?, QueryBuilder?) -> AsyncThrowingStream<Change, any Error>
    /// The hub, if the remote is a collection of one.
    var hub: (any HubService)? = nil
}

extension RemoteAccess {
    @MainActor init<Remote: RemoteDocumentService>(_ remote: Remote) where Remote.T == T {
        let capabilities = remote.capabilities
        self.init(
            capabilities: capabilities, missing: .ofDocuments.subtracting(capabilities),
            path: { remote.collectionPath }, save: { try await remote.saveDocument($0) },
            update: { try await remote.updateDocument(id: $0, data: $1) },
            delete: { try await remote.deleteDocument(id: $0) }, get: { try await remote.getDocument(id: $0) },
            streamDocument: { remote.streamDocument(id: $0) }, getAll: nil,
            find: nil,
            listen: { id, _ in
                guard let id else { return .endless }
                guard capabilities.contains(.changeStreams) else {
                    // The current state, and nothing after it.
                    return AsyncThrowingStream { continuation in
                        let task = Task { @MainActor in
                            do {
                                continuation.yield(.saved(try await remote.getDocument(id: id)))
                            } catch RemoteError.notFound {
                                continuation.yield(.deleted(id: id))
                            } catch {
                                continuation.finish(throwing: error)
                            }
                        }
                        continuation.onTermination = { _ in task.cancel() }
                    }
                }
                let documents = remote.streamDocument(id: id)
                return AsyncThrowingStream { continuation in
                    let task = Task { @MainActor in
                        do {
                            for try await document in documents {
                                continuation.yield(document.map(Change.saved) ?? .deleted(id: id))
                            }
                            continuation.finish()
                        } catch {
                            continuation.finish(throwing: error)
                        }
                    }
                    continuation.onTermination = { _ in task.cancel() }
                }
            }, hub: remote as? any HubService)
    }

    @MainActor init<Remote: RemoteCollectionService>(_ remote: Remote) where Remote.T == T {
        let capabilities = remote.capabilities
        self.init(
            capabilities: capabilities, missing: .ofCollections.subtracting(capabilities),
            path: { remote.collectionPath }, save: { try await remote.saveDocument($0) },
            update: { try await remote.updateDocument(id: $0, data: $1) },
            delete: { try await remote.deleteDocument(id: $0) }, get: { try await remote.getDocument(id: $0) },
            streamDocument: { remote.streamDocument(id: $0) }, getAll: { try await remote.getCollection() },
            find: { query in
                if capabilities.contains(.queries) { return try await remote.getDocuments(query: query) }
                let evaluation = try QueryEvaluation(query)
                return evaluation.select(from: try await remote.getCollection())
            },
            listen: { _, query in
                guard capabilities.contains(.changeStreams) else { return .endless }
                let (updates, deletions) =
                    query.map { remote.streamCollectionUpdates(query: $0) } ?? remote.streamCollectionUpdates()
                return AsyncThrowingStream { continuation in
                    // Either stream ending or failing ends both: the other can't make up for what it misses.
                    let tasks = [
                        Task { @MainActor in
                            do {
                                for try await document in updates { continuation.yield(.saved(document)) }
                                continuation.finish()
                            } catch {
                                continuation.finish(throwing: error)
                            }
                        },
                        Task { @MainActor in
                            guard capabilities.contains(.deletionStreams) else { return }
                            do {
                                for try await id in deletions { continuation.yield(.deleted(id: id)) }
                                continuation.finish()
                            } catch {
                                continuation.finish(throwing: error)
                            }
                        },
                    ]
                    continuation.onTermination = { _ in for task in tasks { task.cancel() } }
                }
            }, hub: remote as? any HubService)
    }
}

extension AsyncThrowingStream where Failure == any Error {
    /// A stream without elements, until its reader stops.
    fileprivate static var endless: AsyncThrowingStream { AsyncThrowingStream { _ in } }
}
