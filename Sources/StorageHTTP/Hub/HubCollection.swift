#if STORAGE_HTTP
    internal import Foundation
    internal import NIOHTTP1
    internal import StorageCore
    public import StorageSync

    /// A collection of a hub: the remote of a ``CollectionSyncEngine``, or of a ``DocumentSyncEngine`` for one of its
    /// documents.
    ///
    /// Its methods access the hub directly; an engine sends its writes through its outbox.
    @MainActor
    public final class HubCollection<T: DataSyncModelProtocol>: RemoteCollectionService, RemoteDocumentService {
        private nonisolated let remote: HTTPHub
        private nonisolated let name: String
        private let account: @MainActor @Sendable () -> String?

        nonisolated init(
            _ name: String, of remote: HTTPHub, account: @escaping @MainActor @Sendable () -> String?
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

        public func getCollection() async throws -> [T] {
            var documents: [T] = []
            var next: String?
            repeat {
                let rest = next.map { "?after=\(PercentCoding.encoded($0))" } ?? ""
                let page: HubDocuments = try await remote.read("\(path)/documents\(rest)")
                documents += try page.documents.map { try $0.model() }
                next = page.hasMore ? page.documents.last?.id : nil
            } while next != nil
            return documents
        }

        public func getDocuments(query: QueryBuilder) async throws -> [T] {
            try await remote.message(.POST, "\(path)/query", body: query, as: HubDocuments.self).documents.map {
                try $0.model()
            }
        }

        public func getDocument(id: String) async throws -> T {
            try await remote.read(path(id), as: HubDocument.self).model()
        }

        public func saveDocument(_ model: T) async throws {
            let fields = try HubFields(encoding: model)
            _ = try await remote.message(.PUT, path(model.id), body: fields, as: HubWritten.self)
        }

        public func updateDocument(id: String, data: [String: any DMCodableSendable]) async throws {
            let fields = try HubFields(changing: data)
            _ = try await remote.message(.PATCH, path(id), body: fields, as: HubWritten.self)
        }

        public func deleteDocument(id: String) async throws { try await remote.delete(path(id)) }
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
        public func streamDocument(id: String) -> AsyncThrowingStream<T?, any Error> {
            AsyncThrowingStream { continuation in
                let task = Task {
                    do {
                        var isKnown = false
                        try await follow(document: id) { changes in
                            if changes.isEmpty, !isKnown { continuation.yield(nil) }
                            isKnown = true
                            for change in changes { continuation.yield(try change.model) }
                        }
                    } catch {
                        continuation.finish(throwing: error)
                    }
                }
                continuation.onTermination = { _ in task.cancel() }
            }
        }

        public func streamCollectionUpdates() -> (
            updates: AsyncThrowingStream<T, any Error>, deletions: AsyncThrowingStream<String, any Error>
        ) {
            let (updates, updated) = AsyncThrowingStream.makeStream(of: T.self, throwing: (any Error).self)
            let (deletions, deleted) = AsyncThrowingStream.makeStream(of: String.self, throwing: (any Error).self)
            let task = Task {
                do {
                    var isFirst = true
                    try await follow(document: nil) { changes in
                        // The documents that existed before the call.
                        defer { isFirst = false }
                        guard !isFirst else { return }
                        for change in changes {
                            if let model = try change.model { updated.yield(model) } else { deleted.yield(change.id) }
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

        private struct Change: Sendable {
            let id: String
            /// Nil for a deletion.
            let fields: [String: String]?

            var model: T? {
                get throws {
                    try fields.map { try HubDocument(id: id, version: 0, fields: $0).model() }
                }
            }
        }

        /// Yields all existing documents at once, and then each page of changes; ends with an error.
        private func follow(
            document: String?, _ body: ([Change]) throws -> Void
        ) async throws {
            var pull = HubPull(behind: 0, of: [name])
            pull.document = document
            var first: [Change]? = []
            while true {
                let found = try await remote.page(pull)
                let page = found.page
                let changes = page.changes.map { change in
                    let fields: [String: String]? =
                        if case .save(let values) = change.operation { values.texts } else { nil }
                    return Change(id: change.document.id, fields: fields)
                }
                if let known = first {
                    first = known + changes
                    if page.end == page.start {
                        try body(known)
                        first = nil
                        pull.wait = .seconds(25)
                    }
                } else if !changes.isEmpty {
                    try body(changes)
                }
                pull.line = found.line
                pull.position = page.end
            }
        }
    }
#endif
