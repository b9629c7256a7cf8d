#if STORAGE_SERVER
    internal import Foundation
    internal import HTTPTypes
    internal import Hummingbird
    internal import StorageCore
    internal import StorageSync

    /// Sessions of producers, and changes.
    extension HubRoutes {
        func hello(_ request: HubRequest) async throws -> Response {
            // A session is for sending or receiving, and each producer is a row of the store.
            guard request.access.grants.contains(where: { $0.reads || $0.writes }) else { throw HubError.forbidden }
            let hello = try await request.message(HubHello.self)
            let producer = try producer(hello.producer, request)
            return Response(
                json: try await hub.hello(from: producer, epoch: hello.epoch, as: request.access).json)
        }

        func push(_ request: HubRequest) async throws -> Response {
            let batch = try await request.message(HubBatch.self)
            guard batch.writes.count <= limits.batchWrites else {
                throw HubProblem(.tooLarge, "A batch may contain up to \(limits.batchWrites) writes.")
            }
            let known = HubBatch(
                producer: try producer(batch.producer.value, request), epoch: batch.epoch, line: batch.line,
                firstNumber: batch.firstNumber, writes: batch.writes)
            return Response(json: HubResults(try await hub.push(known, as: request.access)).json)
        }

        /// The hub's id of the producer: a client's name is never used unchecked.
        private func producer(_ name: String, _ request: HubRequest) throws -> ProducerID {
            guard (1...200).contains(name.utf8.count) else {
                throw HubProblem(.malformed, "A producer's name must have 1 to 200 bytes.")
            }
            return request.access.producer(name)
        }

        func changes(_ request: HubRequest) async throws -> Response {
            var query = try HubChangesQuery(try request.query())
            query.pull.limit = try count(Int64(query.pull.limit))
            query.pull.producer = try query.pull.producer.map { try producer($0.value, request) }
            guard query.pull.entities.contains(where: request.access.mayRead) else { throw HubError.forbidden }
            let last = try lastEvent(request)
            guard request.acceptsEvents else { return try await page(query.pull, request) }
            if let last { (query.pull.line, query.pull.position) = (last.line, last.position) }
            return try await stream(query, request)
        }

        /// One page, as JSON.
        private func page(_ pull: HubPull, _ request: HubRequest) async throws -> Response {
            let isWaiting = pull.wait > .zero
            let slot = isWaiting ? streams.begin(request.token.id) : nil
            if isWaiting, slot == nil { throw RateLimited(seconds: 5) }
            defer { slot?.end() }
            let page = try await hub.pull(pull, as: request.access)
            if isWaiting { try await tokens.check(request.token) }
            return Response(json: HubPage(line: hub.line, page: page).json)
        }

        private func stream(_ query: HubChangesQuery, _ request: HubRequest) async throws -> Response {
            guard let slot = streams.begin(request.token.id) else { throw RateLimited(seconds: 5) }
            // An invalid request is answered by a status, not in the stream.
            let stream = try await ServerSentChanges(of: hub, query: query, request: request, tokens: tokens)
            return Response(stream, slot: slot, writeSeconds: limits.writeSeconds)
        }
    }
#endif
