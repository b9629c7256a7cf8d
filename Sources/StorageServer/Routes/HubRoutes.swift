#if STORAGE_SERVER
    internal import Foundation
    internal import HTTPTypes
    public import Hummingbird
    public import Logging
    internal import StorageCore
    public import StorageKit
    internal import StorageSync

    /// A hub's resources, for a Hummingbird application of your own.
    ///
    /// ```swift
    /// let hub = try await HubRoutes(storage, tokens: HubTokenFile(besideStore: path))
    /// hub.addRoutes(to: router, under: "/hub")
    /// ```
    ///
    /// Call ``stop()`` when the application shuts down, so that streams end; ``HubServer`` does so by itself.
    /// Connection limits are up to the application: `connections`, `idleSeconds` and `lastWriteSeconds` are enforced by
    /// ``HubServer`` only, and `writeSeconds` here for streams only. Clients of HTTP/1.0, which have to send `Host` here,
    /// and host names in request targets are up to the application, too.
    ///
    /// Isolation: `Sendable`.
    public final class HubRoutes: Sendable {
        let hub: StoreHub
        let storage: Storage
        let tokens: HubTokenFile
        let limits: HubLimits
        let streams: StreamCounter
        let memory: BodyMemory
        private let rates: RateLimiter
        private let origins: Set<String>
        private let hosts: Set<String>
        private let logger: Logger

        /// Creates the resources of a store.
        ///
        /// - Parameters:
        ///   - origins: The origins of web pages whose scripts may use the hub.
        ///   - hosts: The host names that requests may use; empty for any.
        /// - Throws: `StorageError` with `read-only` if the store can't be written; errors of the store.
        public init(
            _ storage: Storage, tokens: HubTokenFile, origins: Set<String> = [], hosts: Set<String> = [],
            limits: HubLimits = HubLimits(), logger: Logger = Logger(label: "storagekit.hub")
        ) async throws {
            var kept = StoreHub.Limits()
            (kept.producers, kept.keys) = (limits.producersPerToken, limits.keysPerToken)
            kept.liveBytes = limits.liveQueryBytes
            hub = try await StoreHub(storage, limits: kept)
            self.storage = storage
            self.tokens = tokens
            self.limits = limits
            self.origins = origins
            self.hosts = Set(hosts.map { $0.lowercased() })
            self.logger = logger
            streams = StreamCounter(limit: limits.streamsPerToken)
            memory = BodyMemory(limit: limits.bodyBytesAtOnce)
            rates = RateLimiter(perSecond: limits.requestsPerSecond, burst: limits.requestBurst)
        }

        /// Ends streams, live queries and waiting pulls; later ones are answered immediately.
        public func stop() { hub.stop() }

        /// Adds the hub's resources to a router.
        ///
        /// - Parameter path: A prefix of their paths, without a trailing slash.
        public func addRoutes<Context: RequestContext>(to router: some RouterMethods<Context>, under path: String = "")
        {
            // Unsupported methods are refused here: the router would report a missing resource.
            for method in HTTPRequest.Method.known {
                router.on("\(path)/**", method: method) { request, context in
                    await self.respond(to: request, path: request.uri.path.dropFirst(path.utf8.count))
                }
            }
        }
    }

    // MARK: Requests

    extension HubRoutes {
        private func respond(to request: Request, path: some StringProtocol) async -> Response {
            let start = ContinuousClock.now
            var holder: HubToken?
            var response: Response
            do {
                response = try await answer(request, path: path, holder: &holder)
            } catch let limited as RateLimited {
                response = Response(
                    HubProblem(.tooManyRequests, "Wait for \(limited.seconds) s."), retryAfterSeconds: limited.seconds)
            } catch {
                let problem = HubProblem(error)
                if problem.status >= 500 {
                    logger.error("request failed", metadata: ["error": "\(Self.loggable(error))"])
                }
                response = Response(problem)
            }
            share(&response, with: request)
            if request.method == .head {
                let length = response.body.contentLength
                // It sets the length to that of an empty body. A stream has none, and without a length HTTP/1.1 would end the answer
                // with an empty chunk, which clients take for the next answer.
                response.body = ResponseBody()
                if let length { response.headers[.contentLength] = String(length) }
            }
            // Ids and fields are user data: neither the path nor a body is logged.
            logger.debug(
                "request",
                metadata: [
                    "method": "\(request.method)", "status": "\(response.status.code)",
                    "token": "\(holder?.id ?? "-")", "duration": "\(ContinuousClock.now - start)",
                ])
            return response
        }

        /// The loggable text of an error. Only the store's own failures are logged with their texts: others may quote a
        /// document's data.
        static func loggable(_ error: any Error) -> String {
            guard let error = error as? StorageError else { return String(reflecting: type(of: error)) }
            let location = "\(error.location.file):\(error.location.line)"
            return error.isOfTheStore ? "\(error.code): \(error.message) (\(location))" : "\(error.code) (\(location))"
        }

        struct RateLimited: Error {
            let seconds: Int
        }

        private func answer(
            _ request: Request, path: some StringProtocol, holder: inout HubToken?
        ) async throws -> Response {
            try checkHost(request)
            guard let route = HubResource(path: path) else {
                // Unauthenticated clients don't learn which resources exist.
                if request.method != .options { holder = try await token(of: request) }
                throw HubProblem(.notFound, "There is no such resource.")
            }
            if request.method == .options {
                return Response(status: .noContent, headers: [.allow: Self.names(route.methods)])
            }
            if !route.isPublic { holder = try await token(of: request) }
            guard route.methods.contains(request.method) else {
                var response = Response(HubProblem(.methodNotAllowed, "It knows \(Self.names(route.methods))."))
                response.headers[.allow] = Self.names(route.methods)
                return response
            }
            guard let holder else { return try await publicAnswer(route) }
            if let seconds = rates.take(holder.id) { throw RateLimited(seconds: seconds) }
            let access = try holder.access()
            let memory = BodyMemory.Share(of: memory)
            defer { memory.end() }
            return try await answer(
                HubRequest(request: request, token: holder, access: access, limits: limits, memory: memory), route)
        }

        private func answer(_ request: HubRequest, _ route: HubResource) async throws -> Response {
            switch route {
            case .collections: try await collections(request)
            case .documents(let entity): try await documents(of: entity, request)
            case .query(let entity): try await query(entity, request)
            case .document(let id, let entity): try await document(id, of: entity, request)
            case .hello: try await hello(request)
            case .push: try await push(request)
            case .changes: try await changes(request)
            case .status: try await status(request)
            case .metrics: try await metrics(request)
            case .health, .openAPI, .client: try await publicAnswer(route)
            }
        }

        private static func names(_ methods: [HTTPRequest.Method]) -> String {
            (methods + [.options]).map(\.rawValue).joined(separator: ", ")
        }

        private func token(of request: Request) async throws -> HubToken {
            let parts = (request.headers[.authorization] ?? "").split(separator: " ", omittingEmptySubsequences: true)
            guard parts.count == 2, parts[0].lowercased() == "bearer",
                let token = try await tokens.authenticate(String(parts[1]))
            else {
                throw HubProblem(
                    .unauthorized, "Send Authorization: Bearer TOKEN with one that hasn't expired or been revoked.")
            }
            return token
        }
    }

    // MARK: Browsers

    extension HubRoutes {
        private func checkHost(_ request: Request) throws {
            let problem = HubProblem(.malformed, "A request has one Host.")
            guard let authority = request.head.authority else { throw problem }
            // The server has made the first one the authority. A proxy may read another one (RFC 9112, 3.2).
            if let other = request.headers[.repeatedHost], other != authority { throw problem }
            guard !hosts.isEmpty else { return }
            guard !authority.isEmpty else { throw problem }
            var name = authority.lowercased()
            if let port = name.lastIndex(of: ":"), !name.hasSuffix("]") { name = String(name[..<port]) }
            guard hosts.contains(name) else {
                throw HubProblem(.misdirected, "The hub isn't known by this name.")
            }
        }

        /// Allows scripts of other origins to read an answer, if configured.
        private func share(_ response: inout Response, with request: Request) {
            response.headers[.xContentTypeOptions] = "nosniff"
            guard let origin = request.headers[.origin] else { return }
            response.headers[.vary] = "Origin"
            guard origins.contains(origin) else { return }
            response.headers[.accessControlAllowOrigin] = origin
            response.headers[.accessControlExposeHeaders] = "ETag, Retry-After, Location"
            guard request.method == .options else { return }
            response.headers[.accessControlAllowMethods] = "GET, HEAD, POST, PUT, PATCH, DELETE"
            response.headers[.accessControlAllowHeaders] =
                "Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key, Last-Event-ID"
            response.headers[.accessControlMaxAge] = "3600"
        }
    }

    extension HTTPRequest.Method {
        /// The methods that clients may use. A word of letters is a valid method, so the last one exists.
        fileprivate static let known: [Self] = [
            .get, .head, .post, .put, .patch, .delete, .options, .trace, Self("QUERY")!,
        ]
    }

    extension HTTPField.Name {
        static let repeatedHost = HTTPField.Name("Host")!
        static let idempotencyKey = HTTPField.Name("Idempotency-Key")!
        static let lastEventID = HTTPField.Name("Last-Event-ID")!
    }
#endif
