#if STORAGE_HTTP
    internal import Foundation
    public import StorageSync

    /// A collection of documents behind a REST service, for a ``CollectionSyncEngine``.
    ///
    /// ```swift
    /// let watchlistSyncEngine = CollectionSyncEngine<Movie>(
    ///     remote: RESTRemoteCollectionService(rest) { account.user.map { "users/\($0)/watchlist" } },
    ///     managerKey: "watchlist")
    /// ```
    ///
    /// ``RESTConfiguration`` describes the service and the meaning of its answers. Documents are JSON objects as their
    /// `Codable` conformances write them. Dates are written as text, such as `2026-01-15 10:00:00.123`; dates that are
    /// numbers are read as seconds since 2001.
    ///
    /// Streams poll every ``RESTConfiguration/pollingInterval``, with the last answer's entity tag if that was a single
    /// page.
    ///
    /// Isolation: the main actor. Requests are made and documents are coded elsewhere.
    @MainActor
    public final class RESTRemoteCollectionService<T: DataSyncModelProtocol>: RemoteCollectionService {
        private let documents: RESTDocumentAccess<T>
        /// The polls of open streams, by what they request.
        private var polls: [String: RESTPoll<T>] = [:]

        /// Creates a remote.
        ///
        /// - Parameters:
        ///   - configuration: A description of the service.
        ///   - collectionPath: The path of the collection, relative to the base URL; nil while no user is signed in.
        ///     Evaluated on each call.
        public nonisolated init(
            _ configuration: RESTConfiguration, collectionPath: @escaping @MainActor @Sendable () -> String?
        ) { documents = RESTDocumentAccess(configuration, path: collectionPath) }

        /// The path of the collection; nil while no user is signed in.
        public var collectionPath: String? { documents.path() }
        /// What the service can do according to its configuration.
        public var capabilities: RemoteCapabilities { documents.configuration.capabilities }

        /// Fetches every document, page by page.
        ///
        /// - Throws: ``RemoteError`` for an answer that determines what an engine does next; ``HTTPRemoteError`` for
        ///   any other failure; `CancellationError`.
        public func getCollection() async throws -> [T] { try await fetch(try documents.collection(), []) }

        /// Fetches the documents that match a query.
        ///
        /// - Throws: `StorageError` with `invalid-argument` if the service doesn't support queries, or not this one;
        ///   ``RemoteError``; ``HTTPRemoteError``.
        public func getDocuments(query: QueryBuilder) async throws -> [T] {
            try await fetch(try documents.collection(), try items(of: query))
        }

        /// Fetches a document.
        ///
        /// - Throws: ``RemoteError/notFound`` if there is none; otherwise as ``getCollection()``.
        public func getDocument(id: String) async throws -> T { try await documents.get(id) }
        /// Creates or replaces a document.
        ///
        /// - Throws: As ``getCollection()``.
        public func saveDocument(_ model: T) async throws { try await documents.save(model) }

        /// Changes some fields of a document.
        ///
        /// - Throws: ``RemoteError/notFound`` if there is none; otherwise as ``getCollection()``.
        public func updateDocument(id: String, data: [String: any DMCodableSendable]) async throws {
            try await documents.update(id, data)
        }

        /// Deletes a document, if it exists.
        ///
        /// - Throws: As ``getCollection()``.
        public func deleteDocument(id: String) async throws { try await documents.delete(id) }

        /// Returns a stream of a document's current state and each change found by polling. Without a polling interval,
        /// it ends after the current state.
        public func streamDocument(id: String) -> AsyncThrowingStream<T?, any Error> { documents.stream(id) }

        /// Returns streams of the changes found by polling; without a polling interval, they report nothing.
        public func streamCollectionUpdates() -> (
            updates: AsyncThrowingStream<T, any Error>, deletions: AsyncThrowingStream<String, any Error>
        ) { stream { [] } }

        /// Returns streams of the changes found by polling a query; without a polling interval, they report nothing.
        public func streamCollectionUpdates(query: QueryBuilder) -> (
            updates: AsyncThrowingStream<T, any Error>, deletions: AsyncThrowingStream<String, any Error>
        ) { stream { [self] in documents.configuration.queryMapping == nil ? [] : try items(of: query) } }
    }

    extension RESTRemoteCollectionService {
        private func items(of query: QueryBuilder) throws -> [URLQueryItem] {
            guard let mapping = documents.configuration.queryMapping else {
                throw StorageError(
                    .invalidArgument, "The REST remote has no mapping of queries to URLs.",
                    remedy:
                        "Give its configuration a queryMapping, or look in the collection: getDocumentsAsync(where:).")
            }
            return try mapping.items(query)
        }

        private func fetch(_ collection: String, _ items: [URLQueryItem]) async throws -> [T] {
            // Without a validator there is always an answer.
            guard let found = try await documents.client.documents(T.self, in: collection, items: items) else {
                return []
            }
            try await polls[key(collection, items)]?.begin(with: found)
            return found.values
        }

        private func key(_ collection: String, _ items: [URLQueryItem]) -> String {
            ([collection] + items.map { "\($0.name)=\($0.value ?? "")" }).joined(separator: "\n")
        }

        private func stream(
            _ items: () throws -> [URLQueryItem]
        ) -> (updates: AsyncThrowingStream<T, any Error>, deletions: AsyncThrowingStream<String, any Error>) {
            let (updates, update) = AsyncThrowingStream.makeStream(of: T.self, throwing: (any Error).self)
            let (deletions, delete) = AsyncThrowingStream.makeStream(of: String.self, throwing: (any Error).self)
            do {
                let (collection, items) = (try documents.collection(), try items())
                guard let interval = documents.configuration.pollingInterval else { return (updates, deletions) }
                let poll = RESTPoll<T>(documents.client, collection: collection, items: items)
                let key = key(collection, items)
                polls[key] = poll
                let task = Task { [weak self] in
                    do {
                        try await poll.run(every: interval, update, delete)
                    } catch {
                        update.finish(throwing: error)
                        delete.finish(throwing: error)
                    }
                    if self?.polls[key] === poll { self?.polls[key] = nil }
                }
                // A reader that ends one stream has no use for the other.
                update.onTermination = { _ in task.cancel() }
                delete.onTermination = { _ in task.cancel() }
            } catch {
                update.finish(throwing: error)
                delete.finish(throwing: error)
            }
            return (updates, deletions)
        }
    }
#endif
