#if STORAGE_HTTP
    import Foundation
    import NIOCore
    import NIOHTTP1
    import NIOPosix
    import StorageHTTP
    import Synchronization

    /// An HTTP server on 127.0.0.1 that answers bytes as they are given to it, also such as no server should answer.
    final class TestServer: Sendable {
        struct Request: Sendable {
            let method: String
            let path: String
            let headers: HTTPHeaders
            var body = Data()
        }

        private struct State {
            var requests: [Request] = []
            var abandoned = 0
            var connections: [any Channel] = []
        }

        private let state = Mutex(State())
        private let channel: any Channel
        /// Connections are shared by the requests to one server, as another one may have its port later.
        let client = HTTPRemoteClient()
        let port: Int

        var origin: String { "http://127.0.0.1:\(port)" }
        var requests: [Request] { state.withLock { $0.requests } }
        /// How many connections the client ended while an answer was under way.
        var abandoned: Int { state.withLock { $0.abandoned } }

        /// How many connections were made, and how many of them are open.
        var connectionCount: Int { state.withLock { $0.connections.count } }
        var openCount: Int { state.withLock { $0.connections.count { $0.isActive } } }

        private init(_ answer: @escaping @Sendable (Request) -> Reply) async throws {
            let hub = Hub()
            channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        hub.server?.note(channel)
                        try channel.pipeline.syncOperations.addHandlers(
                            ByteToMessageHandler(HTTPRequestDecoder()), Connection(hub, answer))
                    }
                }
                .bind(host: "127.0.0.1", port: 0).get()
            port = channel.localAddress?.port ?? 0
            hub.server = self
        }

        /// A remote at this server.
        func remote(
            _ path: String = "", headers: [String: String] = [:], timeout: Duration = .seconds(120),
            maximumBytes: Int = 16 << 20, makeDecoder: @escaping @Sendable () -> JSONDecoder = { JSONDecoder() }
        ) -> HTTPRemote {
            HTTPRemote(
                origin + path, headers: headers, timeout: timeout, maximumBytes: maximumBytes, client: client,
                makeDecoder: makeDecoder)
        }

        /// Runs a server for as long as `body` runs.
        static func run<Result: Sendable>(
            isolation: isolated (any Actor)? = #isolation, _ answer: @escaping @Sendable (Request) -> Reply,
            _ body: (TestServer) async throws -> Result
        ) async throws -> Result {
            let server = try await TestServer(answer)
            do {
                let result = try await body(server)
                try await server.close()
                return result
            } catch {
                try await server.close()
                throw error
            }
        }

        private func close() async throws {
            try await channel.close()
            for connection in state.withLock({ $0.connections }) { connection.close(promise: nil) }
        }

        fileprivate func note(_ channel: any Channel) { state.withLock { $0.connections.append(channel) } }
        fileprivate func note(_ request: Request) { state.withLock { $0.requests.append(request) } }
        fileprivate func noteAbandoned() { state.withLock { $0.abandoned += 1 } }
    }

    /// Leads from the connections to their server, which isn't there yet when they are described.
    private final class Hub: Sendable {
        private struct Weak { weak var server: TestServer? }
        private let state = Mutex(Weak())
        var server: TestServer? {
            get { state.withLock { $0.server } }
            set { state.withLock { $0.server = newValue } }
        }
    }

    /// One connection: reads requests and writes what they are answered with.
    private final class Connection: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = ByteBuffer

        private let hub: Hub
        private let answer: @Sendable (TestServer.Request) -> Reply
        private var request: TestServer.Request?
        private var isAnswering = false

        init(_ hub: Hub, _ answer: @escaping @Sendable (TestServer.Request) -> Reply) {
            self.hub = hub
            self.answer = answer
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head):
                request = TestServer.Request(method: head.method.rawValue, path: head.uri, headers: head.headers)
            case .body(let part): request?.body.append(contentsOf: part.readableBytesView)
            case .end:
                guard let request else { return }
                hub.server?.note(request)
                let reply = answer(request)
                isAnswering = reply.end != .keep
                guard let gate = reply.gate else { return send(reply, context) }
                let (loop, this) = (context.eventLoop, NIOLoopBound((self, context), eventLoop: context.eventLoop))
                gate.whenOpen {
                    loop.execute {
                        let (connection, context) = this.value
                        connection.send(reply, context)
                    }
                }
            }
        }

        private func send(_ reply: Reply, _ context: ChannelHandlerContext) {
            guard reply.pieces > 1 else {
                context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: reply.bytes)), promise: nil)
                return finish(reply, context)
            }
            let size = reply.bytes.count / reply.pieces
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: String(reply.bytes.prefix(size)))), promise: nil)
            var rest = reply
            rest.bytes = String(reply.bytes.dropFirst(size))
            rest.pieces -= 1
            let (later, this) = (rest, NIOLoopBound((self, context), eventLoop: context.eventLoop))
            context.eventLoop.scheduleTask(in: .seconds(1)) {
                let (connection, context) = this.value
                connection.send(later, context)
            }
        }

        private func finish(_ reply: Reply, _ context: ChannelHandlerContext) {
            switch reply.end {
            case .keep, .hold: break
            case .close:
                isAnswering = false
                context.close(promise: nil)
            case .endless: pour(context, count: 0)
            }
        }

        /// Chunks without an end, though not more than 64 MiB of them, in case that nobody ends it.
        private func pour(_ context: ChannelHandlerContext, count: Int) {
            guard count < 1_024 else { return context.close(promise: nil) }
            let chunk = ByteBuffer(string: "10000\r\n" + String(repeating: " ", count: 0x10000) + "\r\n")
            let loop = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            context.writeAndFlush(wrapOutboundOut(chunk)).whenSuccess {
                let (connection, context) = loop.value
                connection.pour(context, count: count + 1)
            }
        }

        func channelInactive(context: ChannelHandlerContext) {
            if isAnswering { hub.server?.noteAbandoned() }
            context.fireChannelInactive()
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }

    /// The bytes of an answer, and what becomes of the connection then.
    struct Reply: Sendable {
        enum End { case keep, close, hold, endless }

        var bytes: String
        var end = End.keep
        /// The answer begins when it is open; at once where there is none.
        var gate: Gate?
        /// How many pieces the bytes are sent in, one a second.
        var pieces = 1

        /// An answer with a body and its length.
        static func status(_ status: String, _ headers: [String] = [], body: String = "") -> Reply {
            raw(status, headers + ["Content-Length: \(body.utf8.count)"], body: body)
        }

        static func ok(_ body: String, _ headers: [String] = []) -> Reply { status("200 OK", headers, body: body) }

        func behind(_ gate: Gate) -> Reply {
            var reply = self
            reply.gate = gate
            return reply
        }

        func inPieces(_ count: Int) -> Reply {
            var reply = self
            reply.pieces = count
            return reply
        }

        /// An answer whose header fields are just those that are given.
        static func raw(_ status: String, _ headers: [String], body: String = "", end: End = .keep) -> Reply {
            Reply(bytes: (["HTTP/1.1 \(status)"] + headers + ["", body]).joined(separator: "\r\n"), end: end)
        }

        /// No answer.
        static var silence: Reply { Reply(bytes: "", end: .hold) }
    }
#endif
