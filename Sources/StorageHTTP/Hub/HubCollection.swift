#if STORAGE_HTTP
    internal import Foundation
    internal import NIOHTTP1
    internal import StorageCore
    public import StorageSync

    /// A collection of a hub: the remote of a ``CollectionSyncEngine``, or of a ``DocumentSyncEngine`` for one of its
    /// documents.
    ///
    /// ```swift
    /// let hub = try Hub("https://hub.example", token: token)
    /// let notes: HubCollection<Note> = hub.collection("notes")
    /// let note = try await notes.getDocument(id: "1")
    /// ```
    ///
    /// Its methods access the hub directly; an engine sends its writes through its outbox.
    @MainActor
    public final class HubCollection<T: DataSyncModelProtocol>: RemoteCollectionService, RemoteDocumentService {
        private nonisolated let remote: HTTPHubClient
        private nonisolated let name: String
        private let account: @MainActor @Sendable () -> String?

        nonisolated init(
            _ name: String, of remote: HTTPHubClient, account: @escaping @MainActor @Sendable () -> String?
        ) {
            self.remote = remote
            self.name = name
            self.account = account
        }

        /// The hub's address, the collection's name, and the account.
        public var collectionPath: String? { account().map { "\(remote.url)\(name)#\($0)" } }

        /// All capabilities: an engine numbers its writes, which a hub applies once, and sends their conditions.
        public var capabilities: RemoteCapabilities { [.standard, .idempotencyKeys, .conditionalWrites] }

        private nonisolated var path: String { "v1/collections/\(PercentCoding.encoded(name))" }
        private nonisolated func path(_ id: String) -> String { "\(path)/documents/\(PercentCoding.encoded(id))" }

        /// Fetches every document, page by page.
        ///
        /// - Throws: ``RemoteError``: `unauthorized` without a valid token, `unavailable` if the hub can't be reached;
        ///   ``HTTPRemoteError`` with `timed-out` if the hub's token closure doesn't return; errors of that closure;
        ///   `StorageError` with `invalid-value` for a document that doesn't decode; `CancellationError`.
        public func getCollection() async throws -> [T] {
            try await reportingFailures {
                var documents: [T] = []
                var next: String?
                repeat {
                    let rest = next.map { "?after=\(PercentCoding.encoded($0))" } ?? ""
                    let page: HubDocumentPage = try await remote.read("\(path)/documents\(rest)")
                    documents += try page.documents.map { try $0.model() }
                    next = page.hasMore ? page.documents.last?.id : nil
                } while next != nil
                return documents
            }
        }

        /// Fetches the documents that match a query, which the hub evaluates.
        ///
        /// - Throws: ``RemoteError/rejected(_:)`` for a query that the hub can't answer; otherwise as ``getCollection()``.
        public func getDocuments(query: QueryBuilder) async throws -> [T] {
            try await reportingFailures {
                try await remote.message(.POST, "\(path)/query", body: query, as: HubDocumentPage.self).documents.map {
                    try $0.model()
                }
            }
        }

        /// Fetches a document.
        ///
        /// - Throws: ``RemoteError/notFound`` if there is none; otherwise as ``getCollection()``.
        public func getDocument(id: String) async throws -> T {
            try await reportingFailures { try await remote.read(path(id), as: HubDocument.self).model() }
        }

        /// Creates or replaces a document.
        ///
        /// - Throws: ``RemoteError/rejected(_:)`` if the hub can't store it; otherwise as ``getCollection()``.
        public func saveDocument(_ model: T) async throws {
            let fields = try HubFields(encoding: model)
            _ = try await reportingFailures {
                try await remote.message(.PUT, path(model.id), body: fields, as: HubWritten.self)
            }
        }

        /// Changes some fields of a document.
        ///
        /// - Throws: ``RemoteError/rejected(_:)`` if the hub can't store it; otherwise as ``getCollection()``.
        public func updateDocument(id: String, data: [String: any DMCodableSendable]) async throws {
            let fields = try HubFields(changing: data)
            _ = try await reportingFailures {
                try await remote.message(.PATCH, path(id), body: fields, as: HubWritten.self)
            }
        }

        /// Deletes a document, if it exists.
        ///
        /// - Throws: As ``getCollection()``.
        public func deleteDocument(id: String) async throws {
            try await reportingFailures { try await remote.delete(path(id)) }
        }

        /// The failures of the protocol aren't public: callers get those of a remote.
        private func reportingFailures<Result: Sendable>(
            _ body: () async throws -> Result
        ) async throws -> Result {
            do { return try await body() } catch let failure as SyncFailure { throw RemoteError(failure) }
        }
    }

    extension RemoteError {
        /// The failure of a request to a hub as callers of a collection see it.
        fileprivate init(_ failure: SyncFailure) {
            self =
                switch failure {
                case .unauthorized: .unauthorized
                case .refused(let rejection): .rejected(rejection.description)
                case .retryable(let microseconds, _): .unavailable(retryAfter: microseconds.map { .microseconds($0) })
                case .sessionEnded, .numberReused: .unavailable()
                }
        }
    }

    extension HubCollection: HubService {
        package nonisolated var hub: any SyncHub { remote }
        package nonisolated var hubCollection: String { name }

        package nonisolated func hubDocument(_ id: String) async throws -> HubDocument {
            try await remote.read(path(id))
        }
    }

    // MARK: Streams

    extension HubCollection {
        /// Returns a stream of a document's current state, and its state after each change. It can throw the errors of
        /// ``getDocument(id:)``.
        public func streamDocument(id: String) -> AsyncThrowingStream<T?, any Error> {
            AsyncThrowingStream { continuation in
                let task = Task {
                    do {
                        var isKnown = false
                        var pull = HubPull(behind: 0, of: [name])
                        pull.document = id
                        try await reportingFailures {
                            try await follow(pull) { changes in
                                if changes.isEmpty, !isKnown { continuation.yield(nil) }
                                isKnown = true
                                for change in changes { continuation.yield(try Self.model(after: change)) }
                            }
                        }
                    } catch {
                        continuation.finish(throwing: error)
                    }
                }
                continuation.onTermination = { _ in task.cancel() }
            }
        }

        /// Returns streams of the documents created or changed after the call, and of the ids of deleted ones.
        ///
        /// They begin at the hub's position, which the call requests. A change that the hub commits before it answers
        /// may be missing.
        public func streamCollectionUpdates() -> (
            updates: AsyncThrowingStream<T, any Error>, deletions: AsyncThrowingStream<String, any Error>
        ) {
            let (updates, updated) = AsyncThrowingStream.makeStream(of: T.self, throwing: (any Error).self)
            let (deletions, deleted) = AsyncThrowingStream.makeStream(of: String.self, throwing: (any Error).self)
            let task = Task {
                do {
                    try await reportingFailures {
                        // One page, for the position and its line.
                        let present: HubDocumentPage = try await remote.read("\(path)/documents?limit=1")
                        var pull = HubPull(behind: present.position, of: [name])
                        pull.line = present.line
                        try await follow(pull) { changes in
                            for change in changes {
                                guard let model = try Self.model(after: change) else {
                                    deleted.yield(change.document.id)
                                    continue
                                }
                                updated.yield(model)
                            }
                        }
                    }
                } catch {
                    updated.finish(throwing: error)
                    deleted.finish(throwing: error)
                }
            }
            updated.onTermination = { _ in task.cancel() }
            deleted.onTermination = { _ in task.cancel() }
            return (updates, deletions)
        }

        /// The document after a change; nil if it was deleted.
        private static func model(after change: RemoteChange) throws -> T? {
            guard case .save(let values) = change.operation else { return nil }
            return try HubDocument(id: change.document.id, version: 0, fields: values.texts).model()
        }

        /// Yields each page of changes behind a position, and once, where it has reached the end, an empty one; ends with
        /// an error.
        private func follow(_ pull: HubPull, _ body: ([RemoteChange]) throws -> Void) async throws {
            var pull = pull
            while true {
                let found = try await remote.page(pull)
                let page = found.page
                let reachesEnd = pull.wait == .zero && page.end == page.start
                if reachesEnd || !page.changes.isEmpty { try body(page.changes) }
                if reachesEnd { pull.wait = .seconds(25) }
                pull.line = found.line
                pull.position = page.end
            }
        }
    }
#endif
