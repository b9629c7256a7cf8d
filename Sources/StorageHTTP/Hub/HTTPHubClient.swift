#if STORAGE_HTTP
    internal import AsyncHTTPClient
    internal import Foundation
    internal import NIOCore
    internal import NIOHTTP1
    internal import StorageCore
    package import StorageSync

    /// A hub behind a URL.
    ///
    /// A request is given up when it makes no progress: a slow connection may take longer for a large page or document.
    ///
    /// Isolation: `Sendable`.
    package struct HTTPHubClient: SyncHub {
        let url: String
        let token: @Sendable () async throws -> String?
        let client: HTTPRemoteClient

        /// The longest time until there is a token, then until an answer begins, in addition to what a pull waits and a
        /// body takes, and then between two parts of it.
        var timeout = Duration.seconds(30)

        /// The slowest rate at which a body is sent; the hub accepts it at this rate, too.
        private static let bytesPerSecond = 16 << 10
        /// The maximum size of an answer. A hub's page has about 4 MiB, or one larger document.
        private static let maximumBytes = 256 << 20

        package func hello(
            from producer: ProducerID, epoch: Int64, as access: HubAccess
        ) async throws -> SyncWelcome {
            try await message(.POST, "v1/sync/hello", body: HubHello(producer: producer.value, epoch: epoch))
        }

        package func push(_ batch: HubBatch, as access: HubAccess) async throws -> [NumberedResult] {
            try await message(.POST, "v1/sync/push", body: batch, as: HubResults.self).results
        }

        package func pull(_ pull: HubPull, as access: HubAccess) async throws -> SyncPage {
            let page = try await page(pull)
            guard pull.line.map({ $0 == page.line }) ?? true else { throw SyncFailure.sessionEnded(epoch: nil) }
            return page.page
        }

        /// A page, with the line that its positions belong to.
        func page(_ pull: HubPull) async throws -> HubPage {
            let query = HubChangesQuery(pull).items.text
            return try await read("v1/changes?\(query)", wait: pull.wait)
        }

        package func head() async throws -> Int64 {
            let collections: HubCollectionList = try await read("v1/collections")
            guard let first = collections.collections.first(where: \.reads) else { return 0 }
            let name = PercentCoding.encoded(first.name)
            return try await read("v1/collections/\(name)/documents?limit=1", as: HubDocumentPage.self).position
        }
    }

    // MARK: Requests

    extension HTTPHubClient {
        func read<Message: HubMessage>(
            _ path: String, as type: Message.Type = Message.self, wait: Duration = .zero
        ) async throws -> Message {
            try message(try await send(request(.GET, path), for: timeout + wait), from: path)
        }

        func message<Message: HubMessage>(
            _ method: HTTPMethod, _ path: String, body: some HubMessage, as type: Message.Type = Message.self,
            headers: [(String, String)] = []
        ) async throws -> Message {
            var request = request(method, path)
            request.headers.add(contentsOf: HTTPHeaders(headers))
            request.headers.add(name: "Content-Type", value: "application/json")
            let json = body.json
            request.body = .bytes(ByteBuffer(bytes: json))
            let limit = timeout + .seconds(json.count / Self.bytesPerSecond)
            return try message(try await send(request, for: limit), from: path)
        }

        func delete(_ path: String) async throws { _ = try await send(request(.DELETE, path), for: timeout) }

        private func request(_ method: HTTPMethod, _ path: String) -> HTTPClientRequest {
            var request = HTTPClientRequest(url: url + path)
            request.method = method
            request.headers.add(name: "Accept", value: "application/json")
            return request
        }

        private func message<Message: HubMessage>(_ body: [UInt8], from path: String) throws -> Message {
            do { return try Message(json: body) } catch is JSONReader.Malformed {
                // An intermediary between the hub and this client has answered: it is worth retrying.
                throw SyncFailure(.notOfHub(remote(url + path)))
            }
        }

        /// The names and limits of a request for the descriptions of its errors.
        private func remote(_ url: String) -> HTTPRemote {
            HTTPRemote(url, timeout: timeout, maximumBytes: Self.maximumBytes, client: client)
        }

        /// - Parameter limit: The longest time until an answer begins.
        /// - Throws: ``SyncFailure``, ``RemoteError/notFound``, `CancellationError`; errors of ``token``, and
        ///   ``HTTPRemoteError`` if it doesn't return.
        private func send(_ unsigned: HTTPClientRequest, for limit: Duration) async throws -> [UInt8] {
            let remote = remote(unsigned.url)
            guard let token = try await remote.credentials(from: "token", token) else { throw SyncFailure.unauthorized }
            // The owner of the token determines which account is asked.
            try await RemotePathCheck.current?()
            var request = unsigned
            request.headers.add(name: "Authorization", value: "Bearer \(token)")
            let signed = request
            let deadline = AnswerDeadline(after: limit)
            do {
                return try await withThrowingTaskGroup(of: [UInt8].self) { group in
                    group.addTask {
                        let response = try await client.client.execute(signed, deadline: .distantFuture)
                        let body = try await received(response, from: remote, postponing: deadline)
                        return try Self.body(body, of: response, from: remote)
                    }
                    group.addTask {
                        try await deadline.pass()
                        throw HTTPRemoteError.silent(remote)
                    }
                    defer { group.cancelAll() }
                    // There are two tasks, so there is a first result.
                    return try await group.next() ?? []
                }
            } catch let failure as SyncFailure {
                throw failure
            } catch let error as RemoteError {
                throw error
            } catch {
                try Task.checkCancellation()
                throw SyncFailure(error as? HTTPRemoteError ?? .connection(remote, error))
            }
        }

        private func received(
            _ response: HTTPClientResponse, from remote: HTTPRemote, postponing deadline: AnswerDeadline
        ) async throws -> [UInt8] {
            deadline.postpone(by: timeout)
            var body: [UInt8] = []
            for try await part in response.body {
                deadline.postpone(by: timeout)
                guard body.count + part.readableBytes <= Self.maximumBytes else {
                    throw HTTPRemoteError.tooLarge(remote)
                }
                body += part.readableBytesView
            }
            // A cancelled body may end as if it were complete.
            try Task.checkCancellation()
            return body
        }

        private static func body(
            _ body: [UInt8], of response: HTTPClientResponse, from remote: HTTPRemote
        ) throws -> [UInt8] {
            guard response.status.code >= 300 else { return body }
            let problem = try? HubProblem(json: body)
            let seconds = response.headers.first(name: "Retry-After").flatMap { Int64($0) }
            switch response.status.code {
            case 401, 403: throw SyncFailure.unauthorized
            case 404 where problem?.code == HubProblem.Code.notFound.rawValue: throw RemoteError.notFound
            case 409 where problem?.code == HubProblem.Code.sessionEnded.rawValue:
                throw SyncFailure.sessionEnded(epoch: problem?.epoch)
            case 409 where problem?.code == HubProblem.Code.numberReused.rawValue: throw SyncFailure.numberReused
            case 400, 413, 415, 422:
                // Only the hub itself can refuse: a proxy's page can't.
                guard let problem else { break }
                throw SyncFailure.refused(.invalid(problem.detail))
            default: break
            }
            let status = HTTPRemoteError.status(remote, Int(response.status.code))
            throw SyncFailure.retryable(
                afterMicroseconds: seconds.map { min(max(0, $0), 86_400) * 1_000_000 },
                because: problem.map { "\(status.message) \($0.detail)" } ?? status.description)
        }
    }

    extension SyncFailure {
        /// The connection, a certificate, or an answer that isn't complete: all are worth retrying.
        fileprivate init(_ error: HTTPRemoteError) {
            self = .retryable(afterMicroseconds: nil, because: error.description)
        }
    }
#endif
