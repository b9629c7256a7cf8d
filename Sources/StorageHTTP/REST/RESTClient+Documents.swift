#if STORAGE_HTTP
    internal import Foundation
    internal import NIOHTTP1
    internal import StorageSync

    extension RESTClient {
        /// A document, with the entity tag that its answer has.
        struct Document<T: Sendable>: Sendable {
            let value: T
            let tag: String?
            /// What asks whether it is still the same.
            let validator: String?
        }

        /// - Parameter validator: Of the answer before.
        /// - Returns: nil where nothing has changed since.
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

        /// - Parameter method: How fields are changed.
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
            // What a URL means by them is another place.
            guard !["", ".", ".."].contains(id) else {
                throw RemoteError.rejected("\"\(id)\" can't be the last part of a URL")
            }
            return configuration.documentPath(collection, id)
        }
    }
#endif
