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
    /// ``RESTConfiguration`` says what the service is like, and what its answers mean. Documents are JSON objects in the form of their
    /// `Codable` conformances; dates are text, such as `2026-01-15 10:00:00.123`, and numbers are read as seconds since 2001.
    ///
    /// Streams ask every ``RESTConfiguration/pollingInterval``, with the entity tag of the last answer where that was one page.
    ///
    /// Isolation: the main actor. Requests, and the coding of documents, are done elsewhere.
    @MainActor
    public final class RESTRemoteCollectionService<T: DataSyncModelProtocol>: RemoteCollectionService {
        private let documents: RESTDocuments<T>
        /// The polls whose streams are open, by what they ask for.
        private var polls: [String: RESTPoll<T>] = [:]

        /// - Parameters:
        ///   - configuration: What the service is like.
        ///   - collectionPath: Where the collection is, behind the base URL; nil while nobody is signed in. Asked with each call.
        public nonisolated init(
            _ configuration: RESTConfiguration, collectionPath: @escaping @MainActor @Sendable () -> String?
        ) { documents = RESTDocuments(configuration, path: collectionPath) }

        public var collectionPath: String? { documents.path() }
        public var capabilities: RemoteCapabilities { documents.configuration.capabilities }

        public func getCollection() async throws -> [T] { try await fetch(try documents.collection(), []) }

        /// - Throws: `invalid-argument` where the service is asked no queries, or has no words for this one.
        public func getDocuments(query: QueryBuilder) async throws -> [T] {
            try await fetch(try documents.collection(), try items(of: query))
        }

        public func getDocument(id: String) async throws -> T { try await documents.get(id) }
        public func saveDocument(_ model: T) async throws { try await documents.save(model) }

        public func updateDocument(id: String, data: [String: any DMCodableSendable]) async throws {
            try await documents.update(id, data)
        }

        public func deleteDocument(id: String) async throws { try await documents.delete(id) }

        /// A document as it is, and as each poll finds it changed; it ends behind the first without a polling interval.
        public func streamDocument(id: String) -> AsyncThrowingStream<T?, any Error> { documents.stream(id) }

        /// What each poll finds changed; nothing without a polling interval.
        public func streamCollectionUpdates() -> (
            updates: AsyncThrowingStream<T, any Error>, deletions: AsyncThrowingStream<String, any Error>
        ) { stream { [] } }

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
                // Whoever gives one up has no use for the other.
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
