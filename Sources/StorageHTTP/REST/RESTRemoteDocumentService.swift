#if STORAGE_HTTP
    public import StorageSync

    /// Single documents behind a REST service, for a ``DocumentSyncEngine``.
    ///
    /// ```swift
    /// let userSyncEngine = DocumentSyncEngine<UserModel>(
    ///     remote: RESTRemoteDocumentService(rest) { "users" }, managerKey: "user")
    /// ```
    ///
    /// Works like ``RESTRemoteCollectionService``, but never fetches the collection.
    ///
    /// Isolation: the main actor. Requests are made and documents are coded elsewhere.
    @MainActor
    public final class RESTRemoteDocumentService<T: DataSyncModelProtocol>: RemoteDocumentService {
        private let documents: RESTDocuments<T>

        /// Creates a remote.
        ///
        /// - Parameters:
        ///   - configuration: A description of the service.
        ///   - collectionPath: The path of the documents, relative to the base URL; nil while nobody is signed in.
        ///     Evaluated on each call.
        public nonisolated init(
            _ configuration: RESTConfiguration, collectionPath: @escaping @MainActor @Sendable () -> String?
        ) { documents = RESTDocuments(configuration, path: collectionPath) }

        public var collectionPath: String? { documents.path() }
        public var capabilities: RemoteCapabilities { documents.configuration.capabilities }

        public func getDocument(id: String) async throws -> T { try await documents.get(id) }
        public func saveDocument(_ model: T) async throws { try await documents.save(model) }

        public func updateDocument(id: String, data: [String: any DMCodableSendable]) async throws {
            try await documents.update(id, data)
        }

        public func deleteDocument(id: String) async throws { try await documents.delete(id) }

        /// Returns a document's current state, and each change found by polling; ends after the first without a polling
        /// interval.
        public func streamDocument(id: String) -> AsyncThrowingStream<T?, any Error> { documents.stream(id) }
    }
#endif
