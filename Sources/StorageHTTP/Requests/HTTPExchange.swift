#if STORAGE_HTTP
    internal import AsyncHTTPClient
    internal import Foundation
    internal import NIOCore
    internal import NIOHTTP1
    internal import StorageCore

    /// One request of a remote, from its beginning to the last byte of the answer.
    ///
    /// Invariants:
    ///
    /// - It ends within the remote's timeout, and with the task.
    /// - It never buffers more of a body than ``HTTPRemote/maximumBytes`` and one read of the connection.
    /// - The remote's headers are sent to one origin only. A redirect to another origin drops them, even if a later one
    ///   leads back.
    /// - Conditions are part of the first request only: they refer to the remote's URL.
    struct HTTPExchange: Sendable {
        let remote: HTTPRemote
        let target: HTTPTarget
        let validator: HTTPValidator?
        var method = HTTPMethod.GET
        var content: Content?
        /// The statuses whose body is read.
        var readsBody: @Sendable (_ status: Int) -> Bool = { $0 == 200 || $0 == 203 }

        /// The body of a request.
        struct Content: Sendable {
            let type: String
            let bytes: Data
        }

        private static let maximumRedirects = 5

        /// - Throws: ``HTTPRemoteError``; `CancellationError` if the task was cancelled.
        func answer() async throws -> HTTPAnswer {
            do {
                return try await withThrowingTaskGroup(of: HTTPAnswer?.self) { group in
                    group.addTask { try await followed() }
                    group.addTask {
                        try await Task.sleep(for: remote.timeout.limited)
                        return nil
                    }
                    defer { group.cancelAll() }
                    // There are two tasks, so there is a first result.
                    guard let answer = try await group.next() ?? nil else { throw HTTPRemoteError.timedOut(remote) }
                    return answer
                }
            } catch {
                try Task.checkCancellation()
                throw error
            }
        }

        private func followed() async throws -> HTTPAnswer {
            var (target, isAtHome, redirects) = (target, true, 0)
            while true {
                let response = try await send(target, isAtHome: isAtHome, isFirst: redirects == 0)
                guard let location = response.redirection else {
                    let body = readsBody(Int(response.status.code)) ? try await self.body(of: response) : Data()
                    return HTTPAnswer(
                        status: response.status, headers: response.headers, body: body, target: target,
                        wasRedirected: redirects > 0)
                }
                redirects += 1
                guard redirects <= Self.maximumRedirects else {
                    throw HTTPRemoteError.redirect(remote, "more than \(Self.maximumRedirects) times")
                }
                let next = try redirection(from: target, to: location)
                // Other redirects don't preserve the method, and other methods aren't repeated at another origin.
                guard method == .GET || [307, 308].contains(response.status.code) && next.origin == target.origin else {
                    throw HTTPRemoteError.redirect(remote, "a request that mustn't be repeated elsewhere")
                }
                isAtHome = isAtHome && next.origin == target.origin
                target = next
            }
        }

        /// The target of a redirect, if it may be followed.
        func redirection(from target: HTTPTarget, to location: String) throws -> HTTPTarget {
            guard let next = HTTPTarget(location, relativeTo: target) else {
                throw HTTPRemoteError.redirect(remote, "to what isn't an http or https URL without user and password")
            }
            guard target.origin.scheme == "http" || next.origin.scheme == "https" else {
                throw HTTPRemoteError.redirect(remote, "from https to http")
            }
            return next
        }

        private func send(_ target: HTTPTarget, isAtHome: Bool, isFirst: Bool) async throws -> HTTPClientResponse {
            var request = HTTPClientRequest(url: target.text)
            request.method = method
            let headers = HTTPHeaders(remote.headers.map { ($0.key, $0.value) })
            if isAtHome {
                request.headers = headers
            } else if let accept = headers.first(name: "Accept") {
                request.headers.add(name: "Accept", value: accept)
            }
            if !request.headers.contains(name: "Accept") {
                request.headers.add(name: "Accept", value: "application/json")
            }
            request.headers.replaceOrAdd(name: "Accept-Encoding", value: "identity")
            if method == .GET {
                for name in ["If-None-Match", "If-Modified-Since"] { request.headers.remove(name: name) }
            }
            if isFirst, let validator {
                request.headers.add(name: validator.condition.name, value: validator.condition.value)
            }
            if let content {
                request.headers.replaceOrAdd(name: "Content-Type", value: content.type)
                request.body = .bytes(ByteBuffer(bytes: content.bytes))
            }
            do {
                // The waiting task keeps the deadline of the exchange: the client's own ends with the header fields.
                return try await remote.client.client.execute(request, deadline: .distantFuture)
            } catch let error as CancellationError {
                throw error
            } catch {
                throw HTTPRemoteError.connection(remote, error)
            }
        }

        private func body(of response: HTTPClientResponse) async throws -> Data {
            let encodings = response.headers[canonicalForm: "Content-Encoding"]
            guard encodings.allSatisfy({ $0.lowercased() == "identity" }) else { throw HTTPRemoteError.encoded(remote) }
            if let length = response.headers.first(name: "Content-Length").flatMap({ Int($0) }),
                length > remote.maximumBytes
            {
                throw HTTPRemoteError.tooLarge(remote)
            }
            var body = Data()
            do {
                for try await part in response.body {
                    guard body.count + part.readableBytes <= remote.maximumBytes else {
                        throw HTTPRemoteError.tooLarge(remote)
                    }
                    body.append(contentsOf: part.readableBytesView)
                }
            } catch let error as HTTPRemoteError {
                throw error
            } catch let error as CancellationError {
                throw error
            } catch {
                throw HTTPRemoteError.cutOff(remote, error)
            }
            // A cancelled body may end as if it were complete.
            try Task.checkCancellation()
            return body
        }
    }

    extension HTTPClientResponse {
        /// The target of a redirect; nil if the answer isn't one.
        fileprivate var redirection: String? {
            [301, 302, 303, 307, 308].contains(status.code) ? headers.first(name: "Location") : nil
        }
    }
#endif
