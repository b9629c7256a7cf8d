#if STORAGE_HTTP
    internal import Foundation
    internal import NIOHTTP1
    internal import StorageSync

    /// Sends the requests of REST remotes, and translates answers for engines.
    struct RESTClient: Sendable {
        let configuration: RESTConfiguration

        struct Request: Sendable {
            var method = "GET"
            /// Relative to the base URL; a whole URL if ``isWhole``.
            var path: String
            var isWhole = false
            var items: [URLQueryItem] = []
            var body: (type: String, bytes: Data)?
            /// In addition to those of the configuration.
            var headers: [String: String] = [:]
            var validator: String?

            var isRead: Bool { method == "GET" }
        }

        /// - Returns: An answer with status 2xx, or 304 if the request has a validator.
        /// - Throws: ``RemoteError``, ``HTTPRemoteError``, `CancellationError`.
        func answer(to request: Request) async throws -> (answer: HTTPAnswer, target: HTTPTarget) {
            let target = try target(of: request)
            let headers = try await headers(for: target, wereRefused: false)
            var answer = try await send(request, to: target, headers)
            if answer.status.code == 401 {
                let others = try await self.headers(for: target, wereRefused: true)
                guard others != headers else { throw RemoteError.unauthorized }
                answer = try await send(request, to: target, others)
            }
            let status = Int(answer.status.code)
            let isUnchanged = status == 304 && request.validator != nil && !answer.wasRedirected
            if (200..<300).contains(status) || isUnchanged { return (answer, target) }
            throw failure(answer, of: request, at: target)
        }

        private func headers(for target: HTTPTarget, wereRefused: Bool) async throws -> [String: String] {
            try await remote(target, [:]).credentials(from: "headers") { [headers = configuration.headers] in
                try await headers(wereRefused)
            }
        }

        private func send(
            _ request: Request, to target: HTTPTarget, _ headers: [String: String]
        ) async throws -> HTTPAnswer {
            var exchange = HTTPExchange(
                remote: remote(target, headers.merging(request.headers) { $1 }), target: target,
                validator: request.validator.flatMap { HTTPValidator($0, for: target.text) },
                method: HTTPMethod(rawValue: request.method))
            exchange.content = request.body.map { HTTPExchange.Content(type: $0.type, bytes: $0.bytes) }
            if !request.isRead {
                let wantsReason = configuration.rejectionReason != nil
                exchange.readsBody = { wantsReason && 400..<500 ~= $0 }
            }
            return try await exchange.answer()
        }

        /// The remote that a request's errors name.
        private func remote(_ target: HTTPTarget, _ headers: [String: String]) -> HTTPRemote {
            HTTPRemote(
                target.text, headers: headers, timeout: configuration.timeout,
                maximumBytes: configuration.maximumBytes, client: configuration.client)
        }

        private func target(of request: Request) throws -> HTTPTarget {
            guard let base = HTTPTarget(configuration.baseURL) else {
                throw HTTPRemoteError.invalidURL(HTTPRemote(configuration.baseURL))
            }
            var text = request.path
            if !request.isWhole {
                let start = base.text.hasSuffix("/") ? String(base.text.dropLast()) : base.text
                text = request.path.isEmpty ? start : "\(start)/\(request.path)"
            }
            if !request.items.isEmpty {
                let items = request.items.map {
                    PercentCoding.encoded($0.name) + "=" + PercentCoding.encoded($0.value ?? "")
                }
                text += (text.contains("?") ? "&" : "?") + items.joined(separator: "&")
            }
            guard let target = HTTPTarget(text, relativeTo: base), target.origin == base.origin else {
                throw HTTPRemoteError.invalidURL(HTTPRemote(text))
            }
            return target
        }
    }

    // MARK: Answers

    extension RESTClient {
        private func failure(_ answer: HTTPAnswer, of request: Request, at target: HTTPTarget) -> any Error {
            let status = Int(answer.status.code)
            let error = HTTPRemoteError.status(remote(target, [:]), answer, now: Date())
            switch status {
            case 401: return RemoteError.unauthorized
            case 404, 410: return RemoteError.notFound
            case 409, 412: return request.isRead ? error : RemoteError.conflict(reason(answer))
            case 408, 421, 425, 429: return error
            case 501, 505: return request.isRead ? error : RemoteError.rejected(reason(answer))
            case 400..<500: return request.isRead ? error : RemoteError.rejected(reason(answer))
            default: return error
            }
        }

        private func reason(_ answer: HTTPAnswer) -> String {
            let status = Int(answer.status.code)
            if let reason = configuration.rejectionReason?(status, answer.body) { return String(reason.prefix(500)) }
            // The standard's phrase: the server's own is a part of its answer.
            let phrase = HTTPResponseStatus(statusCode: status).reasonPhrase
            return "the service answers \(status)\(phrase.isEmpty ? "" : " \(phrase)")"
        }

        func undecodable(_ target: HTTPTarget, _ error: any Error) -> HTTPRemoteError {
            .undecodable(remote(target, [:]), (error as? StorageError)?.cause ?? error)
        }

        func badLink(_ target: HTTPTarget, _ what: String) -> HTTPRemoteError { .badLink(remote(target, [:]), what) }
    }
#endif
