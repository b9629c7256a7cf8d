#if STORAGE_HTTP
    internal import Foundation
    internal import NIOHTTP1
    internal import StorageSync

    extension RESTClient {
        /// A document, with the entity tag of its answer.
        struct Document<T: Sendable>: Sendable {
            let value: T
            let tag: String?
            /// The validator of a conditional request.
            let validator: String?
        }

        /// - Parameter validator: The previous answer's.
        /// - Returns: nil if nothing has changed since.
        func document<T: DataSyncModelProtocol>(
            _ type: T.Type, _ id: String, in collection: String, validator: String? = nil
        ) async throws -> Document<T>? {
            let request = Request(path: try path(of: id, in: collection), validator: validator)
            let (answer, target) = try await answer(to: request)
            guard answer.status.code != 304 else { return nil }
            do {
                return Document(
                    value: try DocumentJSON.value(T.self, of: answer.body), tag: answer.headers.first(name: "ETag"),
                    validator: HTTPValidator(of: answer.headers, from: target.text, now: Date())?.text)
            } catch {
                throw undecodable(target, error)
            }
        }

        func save<T: DataSyncModelProtocol>(
            _ document: T, in collection: String, conditions: [String: String]
        ) async throws {
            let own = try path(of: document.id, in: collection)
            try await write(
                Request(
                    method: configuration.saveMethod, path: configuration.savesAtCollection ? collection : own,
                    body: ("application/json", try DocumentJSON.data(document)), headers: conditions))
        }

        /// - Parameter method: The HTTP method of updates.
        func update(
            _ id: String, fields: [String: any DMCodableSendable], in collection: String, by method: String,
            conditions: [String: String]
        ) async throws {
            let body = try DocumentJSON.data(fields: fields)
            try await write(
                Request(
                    method: method, path: try path(of: id, in: collection),
                    body: (configuration.updateContentType, body), headers: conditions))
        }

        func delete(_ id: String, in collection: String, conditions: [String: String]) async throws {
            try await write(
                Request(
                    method: configuration.deleteMethod, path: try path(of: id, in: collection), headers: conditions))
        }

        private func write(_ request: Request) async throws {
            var request = request
            if let name = configuration.idempotencyHeader, let key = RemoteWrite.current?.idempotencyKey {
                request.headers[name] = key
            }
            _ = try await answer(to: request)
        }

        private func path(of id: String, in collection: String) throws -> String {
            // In a URL, they refer to other resources.
            guard !["", ".", ".."].contains(id) else {
                throw RemoteError.rejected("\"\(id)\" can't be the last part of a URL")
            }
            return configuration.documentPath(collection, id)
        }
    }
#endif
