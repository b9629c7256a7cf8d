#if STORAGE_SERVER
    import AsyncHTTPClient
    import Foundation
    import Logging
    import NIOCore
    import NIOHTTP1
    import ServiceLifecycle
    import StorageKit
    import StorageTesting
    import Testing

    @testable import StorageServer
    @testable import StorageSync

    /// A hub that serves on loopback for the length of a test.
    struct ServedHub: Sendable {
        let storage: Storage
        let tokens: HubTokenFile
        let port: Int
        var url: String { "http://127.0.0.1:\(port)" }
        let group: ServiceGroup

        /// Streams hold their connections, and there may be more of them than a client has by default.
        private static let client: HTTPClient = {
            var configuration = HTTPClient.Configuration()
            configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 100
            return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        }()

        fileprivate static var silence: Logger {
            var logger = Logger(label: "test")
            logger.logLevel = .critical
            return logger
        }

        /// Serves while the body runs, and shuts down gracefully afterwards.
        static func run(
            _ configuration: HubServerConfiguration = HubServerConfiguration(), logger: Logger = Self.silence,
            _ body: @escaping @Sendable (ServedHub) async throws -> Void
        ) async throws {
            try await run(
                on: try TemporaryStore(), HubTokenFile(besideStore: ":memory:"), configuration, logger: logger, body)
        }

        /// Serves a store while the body runs, and shuts down gracefully afterwards.
        static func run(
            on store: TemporaryStore, _ tokens: HubTokenFile,
            _ configuration: HubServerConfiguration = HubServerConfiguration(), logger: Logger = Self.silence,
            _ body: @escaping @Sendable (ServedHub) async throws -> Void
        ) async throws {
            var configuration = configuration
            configuration.port = 0
            let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
            let server = try await HubServer(
                store.storage, tokens: tokens, configuration: configuration, logger: logger,
                onRunning: { continuation.yield($0) })
            let group = ServiceGroup(
                configuration: ServiceGroupConfiguration(
                    services: [.init(service: server, successTerminationBehavior: .gracefullyShutdownGroup)],
                    logger: logger))
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { try await group.run() }
                var iterator = ports.makeAsyncIterator()
                let port = try #require(await iterator.next())
                let hub = ServedHub(storage: store.storage, tokens: tokens, port: port, group: group)
                do { try await body(hub) } catch {
                    await group.triggerGracefulShutdown()
                    throw error
                }
                await group.triggerGracefulShutdown()
                try await tasks.waitForAll()
            }
            withExtendedLifetime(store) {}
        }

        /// A token that may do what its grants say.
        func token(
            _ name: String = "anna", _ grants: [HubGrant]? = nil, tenant: HubTenant? = nil, administers: Bool = false,
            expiresAt: Date? = nil
        ) async throws -> String {
            let grants = try grants ?? [HubGrant(entity: nil, writes: true)]
            return try await tokens.create(
                name: name, grants: grants, tenant: tenant, administers: administers, expiresAt: expiresAt
            ).text
        }

        /// What the server answers.
        struct Answer: Sendable {
            let status: Int
            let headers: HTTPHeaders
            let body: String

            /// The code of a problem.
            var code: String? {
                guard let object = try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any] else {
                    return nil
                }
                return object["code"] as? String
            }
        }

        func send(
            _ method: HTTPMethod, _ path: String, token: String?, body: String? = nil,
            headers: [String: String] = [:]
        ) async throws -> Answer {
            let response = try await Self.client.execute(
                request(method, path, token: token, body: body, headers: headers), timeout: .seconds(60))
            let bytes = try await response.body.collect(upTo: 64 << 20)
            return Answer(status: Int(response.status.code), headers: response.headers, body: String(buffer: bytes))
        }

        func request(
            _ method: HTTPMethod, _ path: String, token: String?, body: String? = nil, headers: [String: String] = [:]
        ) -> HTTPClientRequest {
            var request = HTTPClientRequest(url: url + path)
            request.method = method
            if let token { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
            if let body {
                request.headers.add(name: "Content-Type", value: "application/json")
                request.body = .bytes(ByteBuffer(string: body))
            }
            for (name, value) in headers { request.headers.replaceOrAdd(name: name, value: value) }
            return request
        }

        /// A stream of server-sent events: of GET, or of POST with a body.
        func events(
            _ path: String, token: String, body: String? = nil, headers: [String: String] = [:]
        ) async throws -> EventReader {
            var headers = headers
            headers["Accept"] = "text/event-stream"
            let response = try await Self.client.execute(
                request(body == nil ? .GET : .POST, path, token: token, body: body, headers: headers),
                deadline: .distantFuture)
            try #require(response.status == .ok)
            return EventReader(response.body)
        }
    }

    /// Reads server-sent events one by one.
    struct EventReader {
        struct Event: Equatable {
            var name = ""
            var id: String?
            var data = ""
        }

        private var body: HTTPClientResponse.Body.AsyncIterator
        private var buffer = ""

        init(_ body: HTTPClientResponse.Body) { self.body = body.makeAsyncIterator() }

        /// The next event; nil where the stream has ended. Comments are left out.
        mutating func next() async throws -> Event? {
            while true {
                if let end = buffer.range(of: "\n\n") {
                    let block = buffer[..<end.lowerBound]
                    buffer.removeSubrange(..<end.upperBound)
                    var event = Event()
                    for line in block.split(separator: "\n") {
                        let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                        let value = parts.count > 1 ? String(parts[1].drop { $0 == " " }) : ""
                        switch parts[0] {
                        case "event": event.name = value
                        case "id": event.id = value
                        case "data": event.data = value
                        default: break
                        }
                    }
                    if !event.name.isEmpty { return event }
                    continue
                }
                guard let part = try await body.next() else { return nil }
                buffer += String(buffer: part)
            }
        }
    }

    extension EventReader.Event {
        var page: HubPage { get throws { try HubPage(json: data.utf8) } }
    }
#endif
