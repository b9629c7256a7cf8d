#if STORAGE_SERVER
    internal import Crypto
    internal import Foundation
    internal import HTTPTypes
    internal import Hummingbird
    internal import StorageCore
    internal import StorageKit
    internal import StorageSync

    /// Documents and collections.
    extension HubRoutes {
        func collections(_ request: HubRequest) async throws -> Response {
            let names = try await hub.collections(as: request.access)
            return Response(
                json: HubCollectionList(
                    names.map { .init(name: $0, reads: true, writes: request.access.mayWrite($0)) }
                ).json)
        }

        func documents(of entity: String, _ request: HubRequest) async throws -> Response {
            let items = try request.query()
            let limit = try count(items.integer("limit"))
            let found = try await hub.documents(
                of: entity, behind: try items.value("after"), limit: limit, as: request.access)
            return Response(json: found.json)
        }

        func query(_ entity: String, _ request: HubRequest) async throws -> Response {
            // Checked before the body is read: refused requests must be cheap.
            guard request.access.mayRead(entity) else { throw HubError.forbidden }
            let query = try await request.message(QueryBuilder.self)
            // Checked for an answer without a stream too, as the header's form doesn't depend on that.
            let point = try resumePoint(request)
            guard request.acceptsEvents else {
                return Response(json: try await hub.documents(of: entity, matching: query, as: request.access).json)
            }
            return try await live(query, of: entity, after: point, request)
        }

        /// The documents that match a query, and their changes.
        private func live(
            _ query: QueryBuilder, of entity: String, after point: HubResumePoint?, _ request: HubRequest
        ) async throws -> Response {
            guard let slot = streams.begin(request.token.id) else { throw RateLimited(seconds: 5) }
            let feed = try hub.follow(entity, matching: query, after: point, as: request.access)
            // An invalid request is answered by a status, not in the stream.
            let stream = try await ServerSentResults(
                of: feed, isResumed: point != nil, token: request.token, tokens: tokens)
            return Response(stream, slot: slot, writeSeconds: limits.writeSeconds)
        }

        func document(_ id: String, of entity: String, _ request: HubRequest) async throws -> Response {
            let isWrite = [.put, .patch, .delete].contains(request.request.method)
            if isWrite, !request.access.mayWrite(entity) { throw HubError.forbidden }
            return switch request.request.method {
            case .put: try await write(try await save(request), to: id, of: entity, request)
            case .patch: try await write(try await patch(request), to: id, of: entity, request)
            case .delete: try await write(.delete, to: id, of: entity, request)
            default: try await read(id, of: entity, request)
            }
        }

        private func read(_ id: String, of entity: String, _ request: HubRequest) async throws -> Response {
            guard request.access.mayRead(entity) else { throw HubError.forbidden }
            let document = try await hub.document(id, of: entity, as: request.access)
            let headers = request.request.headers
            if let required = headers[.ifMatch], !(EntityTags(required)?.contains(document.version) ?? false) {
                throw HubError.preconditionFailed
            }
            let isKnown = headers[.ifNoneMatch].flatMap(EntityTags.init)?.contains(document.version) ?? false
            var response = isKnown ? Response(status: .notModified) : Response(json: document.json)
            response.headers[.eTag] = EntityTags.tag(of: document.version)
            response.headers[.cacheControl] = "private, no-cache"
            return response
        }

        private func save(_ request: HubRequest) async throws -> WriteOperation {
            .save(try await request.message(HubFields.self).columns)
        }

        private func patch(_ request: HubRequest) async throws -> WriteOperation {
            let types: Set = ["application/merge-patch+json", "application/json"]
            return .patch(try await request.message(HubFields.self, types: types).columns)
        }

        private func write(
            _ operation: WriteOperation, to id: String, of entity: String, _ request: HubRequest
        ) async throws -> Response {
            let expected = try request.documentPrecondition()
            let outcome = try await hub.write(
                operation, to: id, of: entity, expecting: expected,
                key: try key(of: request, for: operation, to: id, of: entity, expecting: expected),
                as: request.access)
            guard let version = outcome.version else { return Response(status: .noContent) }
            var response = Response(
                json: HubWritten(id: id, version: version, position: outcome.position).json,
                status: outcome.isCreated ? .created : .ok)
            response.headers[.eTag] = EntityTags.tag(of: version)
            return response
        }

        private func key(
            of request: HubRequest, for operation: WriteOperation, to id: String, of entity: String,
            expecting expected: HubPrecondition?
        ) throws -> HubRequestKey? {
            guard let value = request.request.headers[.idempotencyKey] else { return nil }
            guard (1...255).contains(value.utf8.count) else {
                throw HubProblem(.malformed, "An Idempotency-Key must have 1 to 255 bytes.")
            }
            var digest = SHA256()
            for part in ["\(request.request.method)", entity, id, expected.map { "\($0)" } ?? ""] {
                digest.update(data: Data("\(part.utf8.count):\(part)".utf8))
            }
            switch operation {
            case .save(let values), .patch(let values): digest.update(data: Data(HubFields(values.texts).json))
            case .delete: break
            }
            return HubRequestKey(value: value, fingerprint: Array(digest.finalize()))
        }

        /// The number of documents or changes in an answer.
        func count(_ limit: Int64?) throws -> Int {
            guard let limit else { return limits.pageCount }
            guard limit > 0 else { throw HubProblem(.malformed, "A limit must be at least 1.") }
            return Int(min(limit, Int64(limits.pageCount)))
        }
    }
#endif
