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
        private let documents: RESTDocumentAccess<T>

        /// Creates a remote.
        ///
        /// - Parameters:
        ///   - configuration: A description of the service.
        ///   - collectionPath: The path of the documents, relative to the base URL; nil while no user is signed in.
        ///     Evaluated on each call.
        public nonisolated init(
            _ configuration: RESTConfiguration, collectionPath: @escaping @MainActor @Sendable () -> String?
        ) { documents = RESTDocumentAccess(configuration, path: collectionPath) }

        /// The path of the documents; nil while no user is signed in.
        public var collectionPath: String? { documents.path() }
        /// What the service can do according to its configuration.
        public var capabilities: RemoteCapabilities { documents.configuration.capabilities }

        /// Fetches a document.
        ///
        /// - Throws: ``RemoteError/notFound`` if there is none; ``RemoteError`` for another answer that determines what
        ///   an engine does next; ``HTTPRemoteError`` for any other failure; `CancellationError`.
        public func getDocument(id: String) async throws -> T { try await documents.get(id) }
        /// Creates or replaces a document.
        ///
        /// - Throws: As ``getDocument(id:)``.
        public func saveDocument(_ model: T) async throws { try await documents.save(model) }

        /// Changes some fields of a document.
        ///
        /// - Throws: As ``getDocument(id:)``.
        public func updateDocument(id: String, data: [String: any DMCodableSendable]) async throws {
            try await documents.update(id, data)
        }

        /// Deletes a document, if it exists.
        ///
        /// - Throws: As ``getDocument(id:)``.
        public func deleteDocument(id: String) async throws { try await documents.delete(id) }

        /// Returns a stream of a document's current state and each change found by polling. Without a polling interval,
        /// it ends after the current state.
        public func streamDocument(id: String) -> AsyncThrowingStream<T?, any Error> { documents.stream(id) }
    }
#endif
