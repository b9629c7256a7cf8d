#if STORAGE_SERVER
    import Foundation
    import Hummingbird
    import Logging
    import NIOCore
    import NIOHTTP1
    import NIOPosix
    import TestSupport
    import StorageCore
    import StorageTesting
    import Synchronization
    import Testing

    @testable import StorageServer
    @testable import StorageSync

    /// Connections that don't behave, byte by byte.
    @Suite(.timeLimit(.minutes(10))) struct ConnectionTests {
        private typealias Connection = NIOAsyncChannel<ByteBuffer, ByteBuffer>

        private func connect(_ hub: ServedHub) async throws -> Connection {
            try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connect(host: "127.0.0.1", port: hub.port) { channel in
                    channel.eventLoop.makeCompletedFuture { try Connection(wrappingChannelSynchronously: channel) }
                }
        }

        /// Sends some bytes, and reads until the server closes the connection, or until a text has come.
        private func exchange(_ connection: Connection, _ text: String, until end: String? = nil) async throws -> String
        {
            try await connection.executeThenClose { inbound, outbound in
                try await outbound.write(ByteBuffer(string: text))
                return try await read(inbound, until: end)
            }
        }

        private func read(
            _ inbound: NIOAsyncChannelInboundStream<ByteBuffer>, until end: String?
        ) async throws -> String {
            var found = ""
            for try await part in inbound {
                found += String(buffer: part)
                if let end, found.contains(end) { break }
            }
            return found
        }

        private let health = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"

        @Test("Connections are limited")
        func connectionLimit() async throws {
            var configuration = HubServerConfiguration()
            configuration.limits.connections = 1
            try await ServedHub.run(configuration) { hub in
                let first = try await connect(hub)
                let second = try await first.executeThenClose { inbound, outbound in
                    var parts = inbound.makeAsyncIterator()
                    try await outbound.write(ByteBuffer(string: health))
                    _ = try await parts.next()
                    let second = try await connect(hub)
                    let answer = Task { try await exchange(second, health, until: "ok") }
                    // It would be answered meanwhile.
                    for _ in 0..<200 {
                        try await outbound.write(ByteBuffer(string: health))
                        #expect(String(buffer: try #require(try await parts.next())).contains("200 OK"))
                    }
                    #expect(second.channel.isActive)
                    return answer
                }
                #expect(try await second.value.contains("200 OK"))
            }
        }

        @Test("Only a client of HTTP/1.0 may omit the host", arguments: [[], ["localhost"]] as [Set<String>])
        func missingHost(hosts: Set<String>) async throws {
            var configuration = HubServerConfiguration()
            configuration.hosts = hosts
            try await ServedHub.run(configuration) { hub in
                let new = try await exchange(
                    try await connect(hub), "GET /health HTTP/1.1\r\nConnection: close\r\n\r\n")
                #expect(new.hasPrefix("HTTP/1.1 400 "), "\(new)")
                let old = try await exchange(try await connect(hub), "GET /health HTTP/1.0\r\n\r\n")
                #expect(old.hasPrefix("HTTP/1.0 \(hosts.isEmpty ? 200 : 400) "), "\(old)")
            }
        }

        @Test("A request has one host")
        func oneHost() async throws {
            var configuration = HubServerConfiguration()
            configuration.hosts = ["localhost"]
            try await ServedHub.run(configuration) { hub in
                let requests = [
                    ("GET /health HTTP/1.1\r\nHost: localhost", "200"),
                    ("GET http://localhost/health HTTP/1.1\r\nHost: localhost", "200"),
                    ("GET /health HTTP/1.1\r\nHost: localhost\r\nHost: evil.example", "400"),
                    ("GET /health HTTP/1.1\r\nHost: evil.example\r\nHost: localhost", "400"),
                    ("GET /health HTTP/1.1\r\nHost: evil.example", "421"), ("GET /health HTTP/1.1", "400"),
                    // The target's host replaces that in the header.
                    ("GET http://localhost:80/health HTTP/1.1\r\nHost: evil.example", "200"),
                    ("GET HTTP://LOCALHOST/health?x=://evil.example/ HTTP/1.1\r\nHost: evil.example", "200"),
                    ("GET http://evil.example/health HTTP/1.1\r\nHost: localhost", "421"),
                    ("GET http://evil.example/health?x=://localhost/ HTTP/1.1\r\nHost: localhost", "421"),
                    ("GET http://localhost@evil.example/health HTTP/1.1\r\nHost: localhost", "421"),
                    ("GET http://localhost/health HTTP/1.1\r\nHost: localhost\r\nHost: evil.example", "400"),
                    ("GET http://localhost/health HTTP/1.1", "400"),
                    ("GET /health?x=http://evil.example/ HTTP/1.1\r\nHost: localhost", "200"),
                ]
                for (head, status) in requests {
                    let text = head + "\r\nConnection: close\r\n\r\n"
                    let answer = try await exchange(try await connect(hub), text)
                    #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(head) \(answer)")
                }
            }
        }

        @Test("A connection ends with the request that says so", arguments: ["Close", "Close, TE", "te,close"])
        func closedConnection(connection: String) async throws {
            try await ServedHub.run { hub in
                let first = "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: \(connection)\r\n\r\n"
                let second = "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
                let answers = try await exchange(try await connect(hub), first + second)
                #expect(answers.components(separatedBy: "HTTP/1.1 200 ").count == 2, "\(answers)")
            }
        }

        /// As nginx does by default, and `curl -0` and `ab`. Such a client reads a length, or until the connection ends.
        @Test("A client of HTTP/1.0 gets what it can read", arguments: ["", "Connection: keep-alive\r\n"])
        func oldClient(connection: String) async throws {
            try await ServedHub.run { hub in
                let token = try await hub.token()
                let path = "/v1/collections/notes/documents/1"
                let fields =
                    "Host: localhost\r\nAuthorization: Bearer \(token)\r\n\(connection)Accept: text/event-stream\r\n\r\n"
                _ = try await hub.send(.PUT, path, token: token, body: #"{"n":1}"#)
                let document = try await exchange(try await connect(hub), "GET \(path) HTTP/1.0\r\n" + fields)
                #expect(document.hasPrefix("HTTP/1.0 200 "), "\(document)")
                #expect(document.lowercased().contains("content-length: "), "\(document)")
                let stream = "GET /v1/changes?collection=notes&follow=false HTTP/1."
                let changes = try await exchange(try await connect(hub), stream + "0\r\n" + fields)
                #expect(changes.hasPrefix("HTTP/1.0 200 "), "\(changes)")
                #expect(!changes.lowercased().contains("transfer-encoding"), "\(changes)")
                let body = try #require(changes.range(of: "\r\n\r\n").map { changes[$0.upperBound...] })
                #expect(body.hasPrefix("event: page\n"), "\(changes)")
                #expect(body.hasSuffix("\n\n"), "\(changes)")
                // An earlier request of the same connection is still one of HTTP/1.1.
                let both = try await exchange(
                    try await connect(hub), stream + "1\r\n" + fields + stream + "0\r\n" + fields)
                #expect(both.hasPrefix("HTTP/1.1 200 "), "\(both)")
                #expect(both.contains("\r\n0\r\n\r\nHTTP/1.0 200 "), "\(both)")
            }
        }

        @Test("A client of HTTP/1.0 doesn't wait for 100 Continue")
        func oldClientWithExpectation() async throws {
            try await ServedHub.run { hub in
                let token = try await hub.token()
                let request =
                    "PUT /v1/collections/notes/documents/1 HTTP/1.0\r\nHost: localhost\r\nAuthorization: Bearer \(token)\r\n"
                    + "Content-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n{}"
                let answer = try await exchange(try await connect(hub), request)
                #expect(answer.hasPrefix("HTTP/1.0 201 "), "\(answer)")
            }
        }

        @Test("A body that isn't encoded as it says is malformed")
        func malformedChunks() async throws {
            try await ServedHub.run { hub in
                let token = try await hub.token()
                let head =
                    "PUT /v1/collections/notes/documents/1 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(token)\r\n"
                    + "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n"
                let answer = try await exchange(try await connect(hub), head)
                #expect(answer.hasPrefix("HTTP/1.1 400 "), "\(answer)")
            }
        }

        @Test("A client may wait for 100 Continue before it sends a body")
        func expectedContinue() async throws {
            try await ServedHub.run { hub in
                let token = try await hub.token()
                let head =
                    "PUT /v1/collections/notes/documents/1 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(token)\r\n"
                    + "Content-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\nExpect: 100-continue\r\n\r\n"
                let answer = try await connect(hub).executeThenClose { inbound, outbound in
                    var parts = inbound.makeAsyncIterator()
                    try await outbound.write(ByteBuffer(string: head))
                    let first = String(buffer: try #require(try await parts.next()))
                    #expect(first == "HTTP/1.1 100 Continue\r\n\r\n")
                    try await outbound.write(ByteBuffer(string: "{}"))
                    var found = ""
                    while let part = try await parts.next() { found += String(buffer: part) }
                    return found
                }
                #expect(answer.hasPrefix("HTTP/1.1 201 "), "\(answer)")
            }
        }

        @Test("A slow body is abandoned")
        func slowBody() async throws {
            var configuration = HubServerConfiguration()
            configuration.limits.bodySeconds = 1
            try await ServedHub.run(configuration) { hub in
                let token = try await hub.token()
                let head =
                    "PUT /v1/collections/notes/documents/1 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(token)\r\n"
                    + "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
                let answer = try await exchange(try await connect(hub), head)
                #expect(answer.contains("408"), "\(answer)")
                #expect(answer.contains("timed-out"), "\(answer)")
                #expect(answer.lowercased().contains("connection: close"))
            }
        }

        @Test("A large body may take longer")
        func largeSlowBody() async throws {
            var configuration = HubServerConfiguration()
            configuration.limits.bodySeconds = 4
            try await ServedHub.run(configuration) { hub in
                let token = try await hub.token()
                let body = #"{"text":""# + String(repeating: "x", count: 300_000) + #""}"#
                let head =
                    "PUT /v1/collections/notes/documents/1 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(token)\r\n"
                    + "Content-Type: application/json\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
                var answer = ""
                // On a busy machine, the rest may come too late even for a large one, but not each time.
                for _ in 0..<3 where !answer.hasPrefix("HTTP/1.1 2") {
                    let connection = try await connect(hub)
                    let found: String? = try? await connection.executeThenClose { inbound, outbound in
                        try await outbound.write(ByteBuffer(string: head + body.prefix(200_000)))
                        // Longer than a small body may take.
                        try await Task.sleep(for: .seconds(6))
                        try await outbound.write(ByteBuffer(string: String(body.dropFirst(200_000))))
                        return try await read(inbound, until: nil)
                    }
                    answer = found ?? ""
                }
                #expect(answer.hasPrefix("HTTP/1.1 2"), "\(answer)")
            }
        }

        /// A request that is answered with more than connections hold, from a client that reads nothing.
        private func stall(_ port: Int, _ request: String) async throws -> any Channel {
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .channelOption(.autoRead, value: false)
                .connect(host: "127.0.0.1", port: port).get()
            try await channel.writeAndFlush(ByteBuffer(string: request))
            return channel
        }

        /// Some 30 MB of answers.
        private let documents = String(repeating: "GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n", count: 500)

        @Test("A client that reads nothing is abandoned")
        func stalledClient() async throws {
            var configuration = HubServerConfiguration()
            configuration.limits.connections = 1
            configuration.limits.writeSeconds = 1
            try await ServedHub.run(configuration) { hub in
                let stalled = try await stall(hub.port, documents)
                // Once there is a place again.
                #expect(try await exchange(try await connect(hub), health, until: "ok").contains("200 OK"))
                try await stalled.close()
            }
            try await ServedHub.run { hub in
                // One that reads gets all, though connections can't hold it.
                let last = "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
                let connection = try await connect(hub)
                let count = try await connection.executeThenClose { inbound, outbound in
                    try await outbound.write(ByteBuffer(string: documents + last))
                    return try await inbound.reduce(0) { $0 + $1.readableBytes }
                }
                #expect(count > 500 * PackageResources.openapi_json.count)
            }
        }

        @Test("Clients that read nothing don't delay the shutdown")
        func shutdownWithStalledClients() async throws {
            var configuration = HubServerConfiguration()
            configuration.limits.lastWriteSeconds = 1
            configuration.limits.writeSeconds = 600
            let stalled = Mutex<[any Channel]>([])
            let start = Mutex(ContinuousClock.now)
            try await ServedHub.run(configuration) { hub in
                let token = try await hub.token()
                for number in 0..<10 {
                    let body = #"{"t":"\#(String(repeating: "x", count: 1_000_000))"}"#
                    _ = try await hub.send(
                        .PUT, "/v1/collections/notes/documents/\(number)", token: token, body: body)
                }
                let stream =
                    "GET /v1/changes?collection=notes HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(token)\r\n"
                    + "Accept: text/event-stream\r\n\r\n"
                let channels = [try await stall(hub.port, documents), try await stall(hub.port, stream)]
                stalled.withLock { $0 = channels }
                let administrator = try await hub.token("ops", administers: true)
                var open = ""
                repeat {
                    open = try await hub.send(.GET, "/v1/status", token: administrator).body
                } while !open.contains(#""streams":1"#)
                start.withLock { $0 = .now }
            }
            #expect(start.withLock { ContinuousClock.now - $0 } < .seconds(120))
            for channel in stalled.withLock({ $0 }) { try await channel.close() }
        }

        /// An application that knows nothing of a hub's limits waits for its answers to be written, however long that takes.
        @Test("An unread stream ends in any application")
        func stalledStreamInAnyApplication() async throws {
            let store = try TemporaryStore()
            let tokens = try HubTokenFile(besideStore: ":memory:")
            var limits = HubLimits()
            limits.writeSeconds = 5
            let hub = try await HubRoutes(store.storage, tokens: tokens, limits: limits)
            let text = try JSONText.of(String(repeating: "x", count: 1_000_000))
            for number in 0..<16 {
                _ = try await hub.hub.write(.save(["t": .text(text)]), to: "\(number)", of: "notes", as: .full)
            }
            let router = Hummingbird.Router(context: BasicRequestContext.self)
            hub.addRoutes(to: router)
            var silence = Logger(label: "test")
            silence.logLevel = .critical
            let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
            let application = Application(
                router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
                onServerRunning: { continuation.yield($0.localAddress?.port ?? 0) }, logger: silence)
            let serving = Task { try await application.run() }
            var iterator = ports.makeAsyncIterator()
            let port = try #require(await iterator.next())
            let token = try await tokens.create(name: "anna", grants: [HubGrant(entity: "notes")]).text
            let channel = try await stall(
                port,
                "GET /v1/changes?collection=notes HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(token)\r\n"
                    + "Accept: text/event-stream\r\n\r\n")
            try await eventually { hub.streams.total > 0 }
            try await eventually { hub.streams.total == 0 }
            // And the connection with it.
            try await channel.setOption(.autoRead, value: true).get()
            try await channel.closeFuture.get()
            hub.stop()
            serving.cancel()
            try await serving.value
            withExtendedLifetime(store) {}
        }

        /// The limit of a body holds for what comes behind its answer, too.
        @Test("An unread request body isn't received forever")
        func endlessRequestBody() async throws {
            var configuration = HubServerConfiguration()
            configuration.limits.bodySeconds = 1
            try await ServedHub.run(configuration) { hub in
                let head =
                    "POST /v1/sync/push HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                    + "Transfer-Encoding: chunked\r\n\r\n"
                let connection = try await connect(hub)
                let answer = try await connection.executeThenClose { inbound, outbound in
                    try await outbound.write(ByteBuffer(string: head))
                    let trickle = Task {
                        while true {
                            try await outbound.write(ByteBuffer(string: "1\r\n{\r\n"))
                            // Slow, but never silent.
                            try await Task.sleep(for: .milliseconds(50))
                        }
                    }
                    defer { trickle.cancel() }
                    var found = ""
                    do {
                        for try await part in inbound { found += String(buffer: part) }
                    } catch is IOError {
                        // What was on its way then is refused.
                    }
                    return found
                }
                #expect(answer.contains("401"))
                // Nor what comes behind the last request.
                let last = "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
                #expect(try await exchange(try await connect(hub), last + health + health).contains("200 OK"))
            }
        }

        @Test("Connections that say nothing are closed")
        func silentConnections() async throws {
            var configuration = HubServerConfiguration()
            configuration.limits.idleSeconds = 1
            try await ServedHub.run(configuration) { hub in
                async let silent = exchange(try await connect(hub), "")
                async let halfway = exchange(try await connect(hub), "GET /health HTTP/1.1\r\nHost: local")
                #expect(try await silent.isEmpty)
                _ = try await halfway
                // On a busy machine, a second may be over before the request is sent.
                try await eventually {
                    let answered = try? await exchange(try await connect(hub), health)
                    return answered?.contains("200 OK") ?? false
                }
                // Something is said on a stream, so it isn't closed.
                var events = try await hub.events("/v1/changes?collection=notes", token: try await hub.token())
                #expect(try await events.next() != nil)
            }
        }

        /// `HEAD`, and clients that are gone before the stream begins, take no place among the token's streams.
        @Test("Only streams count against the limit of streams")
        func streamLimit() async throws {
            var configuration = HubServerConfiguration()
            configuration.limits.streamsPerToken = 1
            configuration.limits.requestBurst = 10_000
            try await ServedHub.run(configuration) { hub in
                let token = try await hub.token()
                let path = "/v1/changes?collection=notes"
                for _ in 0..<3 {
                    let head = try await hub.send(.HEAD, path, token: token, headers: ["Accept": "text/event-stream"])
                    #expect(head.status == 200)
                    #expect(head.body.isEmpty)
                    #expect(head.headers.first(name: "Content-Type") == "text/event-stream")
                    // The connection is used again, so nothing may follow the head.
                    #expect(head.headers.first(name: "Transfer-Encoding") == nil)
                }
                var events = try await hub.events(path, token: token)
                #expect(try await events.next() != nil)
                let second = try await hub.send(.HEAD, path, token: token, headers: ["Accept": "text/event-stream"])
                #expect(second.status == 429)
            }
            configuration.limits.streamsPerToken = 20
            try await ServedHub.run(configuration) { hub in
                let token = try await hub.token()
                let request =
                    "GET /v1/changes?collection=notes HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(token)\r\n"
                    + "Accept: text/event-stream\r\n\r\n"
                for _ in 0..<20 {
                    let connection = try await connect(hub)
                    try await connection.executeThenClose { _, outbound in
                        try await outbound.write(ByteBuffer(string: request))
                    }
                }
                // A stream finds out that its client has gone when it has something to say.
                let administrator = try await hub.token("ops", administers: true)
                var (open, number) = ("", 0)
                repeat {
                    number += 1
                    _ = try await hub.send(
                        .PUT, "/v1/collections/notes/documents/1", token: token, body: #"{"n":\#(number)}"#)
                    open = try await hub.send(.GET, "/v1/status", token: administrator).body
                } while !open.contains(#""streams":0"#)
            }
        }
    }
#endif
