#if STORAGE_HTTP
    internal import Foundation
    internal import StorageCore
    internal import StorageSync

    /// Polls a collection or a query, and yields changes.
    ///
    /// If the collection was fetched meanwhile, the first poll is compared with that: opening the streams and then
    /// fetching the collection misses nothing, and the collection isn't fetched twice. Otherwise everything is yielded.
    @MainActor
    final class RESTPoll<T: DataSyncModelProtocol> {
        private let client: RESTClient
        private let collection: String
        private let items: [URLQueryItem]
        /// The last result, by id; nil before.
        private var known: [String: Int]?
        private var validator: String?

        init(_ client: RESTClient, collection: String, items: [URLQueryItem]) {
            self.client = client
            self.collection = collection
            self.items = items
        }

        /// Uses a fetched result, unless one is already known.
        func begin(with documents: RESTClient.Documents<T>) async throws {
            guard known == nil else { return }
            let prints = try await Self.fingerprints(documents.values)
            guard known == nil else { return }
            (known, validator) = (prints, documents.validator)
        }

        func run(
            every interval: Duration, _ updates: AsyncThrowingStream<T, any Error>.Continuation,
            _ deletions: AsyncThrowingStream<String, any Error>.Continuation
        ) async throws {
            while true {
                try await Task.sleep(for: interval.limited)
                let found = try await client.documents(
                    T.self, in: collection, items: items, validator: known == nil ? nil : validator)
                guard let found else { continue }
                let prints = try await Self.fingerprints(found.values)
                let before = known
                (known, validator) = (prints, found.validator)
                for document in found.values where before?[document.id] != prints[document.id] {
                    updates.yield(document)
                }
                for id in before?.keys.sorted() ?? [] where prints[id] == nil { deletions.yield(id) }
            }
        }

        /// A fingerprint for each document, valid within this process.
        private nonisolated static func fingerprints(_ documents: [T]) async throws -> [String: Int] {
            var prints: [String: Int] = [:]
            for document in documents { prints[document.id] = try DocumentJSON.text(document).hashValue }
            return prints
        }
    }
#endif
