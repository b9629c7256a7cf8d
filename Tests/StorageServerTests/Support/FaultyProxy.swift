#if STORAGE_SERVER
    import NIOCore
    import NIOPosix
    import PredicateTestSupport
    import Synchronization

    /// A TCP proxy on loopback that does to connections what networks do, by a seed: delays what comes, passes it on in small pieces, cuts
    /// connections in the middle, or lets one direction go silent.
    final class FaultyProxy: Sendable {
        private struct State {
            var target: Int
            var isFaulty = false
            var random: PredicateGenerator
            var channels: [ObjectIdentifier: any Channel] = [:]
            var cuts = 0
            var requests: [String: Int] = [:]
        }

        private let state: Mutex<State>
        private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        private let server: any Channel

        let port: Int

        init(to target: Int, seed: UInt64) async throws {
            let state = Mutex(State(target: target, random: PredicateGenerator(seed: seed)))
            self.state = state
            let box = Box()
            server = try await ServerBootstrap(group: group)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelOption(.autoRead, value: false)
                .childChannelInitializer { channel in box.accept(channel) }
                .bind(host: "127.0.0.1", port: 0).get()
            port = server.localAddress?.port ?? 0
            box.proxy = self
        }

        /// The server that is behind it: another one after a restart.
        var target: Int {
            get { state.withLock { $0.target } }
            set { state.withLock { $0.target = newValue } }
        }

        /// Whether anything goes wrong with connections from now on. Where nothing does any more, those that there are end: they may have
        /// gone silent.
        var isFaulty: Bool {
            get { state.withLock { $0.isFaulty } }
            set {
                let ended = state.withLock { state in
                    state.isFaulty = newValue
                    return newValue ? [] : Array(state.channels.values)
                }
                for channel in ended { channel.close(promise: nil) }
            }
        }

        /// How many connections were cut, or let go silent.
        var cuts: Int { state.withLock { $0.cuts } }

        /// How many requests to a path have begun.
        func count(of request: String) -> Int { state.withLock { $0.requests[request] ?? 0 } }

        private func note(_ buffer: ByteBuffer) {
            // A client writes the head of a request at once, and not before the answer to the last one.
            guard buffer.readableBytesView.starts(with: "POST ".utf8) else { return }
            let words = buffer.readableBytesView.prefix(200).split(separator: UInt8(ascii: " "), maxSplits: 2)
            guard words.count > 1 else { return }
            let request = String(decoding: words[1], as: UTF8.self)
            state.withLock { $0.requests[request, default: 0] += 1 }
        }

        func stop() async throws {
            try await server.close()
            let channels = state.withLock { Array($0.channels.values) }
            for channel in channels { channel.close(promise: nil) }
            try await group.shutdownGracefully()
        }

        /// What the channel initializer knows before the proxy is whole.
        private final class Box: @unchecked Sendable {
            // Set before the port is known to anybody, read on the event loop afterwards.
            weak var proxy: FaultyProxy?

            func accept(_ channel: any Channel) -> EventLoopFuture<Void> {
                guard let proxy else { return channel.close() }
                return proxy.accept(channel)
            }
        }

        private func accept(_ client: any Channel) -> EventLoopFuture<Void> {
            let (target, fault) = state.withLock { state in
                (state.target, state.isFaulty ? Fault(&state.random) : nil)
            }
            if fault?.isHarmful == true { state.withLock { $0.cuts += 1 } }
            keep(client)
            return ClientBootstrap(group: client.eventLoop)
                .channelOption(.autoRead, value: false)
                .connect(host: "127.0.0.1", port: target)
                .flatMap { server in
                    self.keep(server)
                    let loop = client.eventLoop
                    return loop.makeCompletedFuture {
                        try client.pipeline.syncOperations.addHandler(
                            Pipe(to: server, fault, isRequest: true, of: self))
                        try server.pipeline.syncOperations.addHandler(
                            Pipe(to: client, fault, isRequest: false, of: self))
                        // The client isn't active yet, and is read from once it is.
                        server.read()
                    }
                }
                .flatMapErrorThrowing { error in
                    client.close(promise: nil)
                    throw error
                }
        }

        private func keep(_ channel: any Channel) {
            state.withLock { $0.channels[ObjectIdentifier(channel)] = channel }
            channel.closeFuture.whenComplete { _ in
                self.state.withLock { $0.channels[ObjectIdentifier(channel)] = nil }
            }
        }

        /// What goes wrong with a connection.
        private struct Fault {
            enum End {
                case none
                /// Both directions are closed behind so many bytes.
                case cut(Int)
                /// Silently forwards nothing more in one direction after this many bytes.
                case silence(Int, ofRequests: Bool)
            }

            let end: End
            let delayMilliseconds: Int
            /// The most bytes that are passed on at once.
            let piece: Int

            init(_ random: inout PredicateGenerator) {
                let bytes = Int(random.next() % 6_000)
                switch random.next() % 4 {
                case 0: end = .cut(bytes)
                case 1: end = .silence(bytes, ofRequests: random.next() % 2 == 0)
                default: end = .none
                }
                delayMilliseconds = Int(random.next() % 20)
                piece = random.next() % 3 == 0 ? 7 + Int(random.next() % 100) : 1 << 16
            }

            var isHarmful: Bool { if case .none = end { false } else { true } }
        }

        /// Passes on what one side sends.
        private final class Pipe: ChannelInboundHandler {
            typealias InboundIn = ByteBuffer

            private let other: any Channel
            private let fault: Fault?
            private let isRequest: Bool
            private let proxy: FaultyProxy
            private var passed = 0

            init(to other: any Channel, _ fault: Fault?, isRequest: Bool, of proxy: FaultyProxy) {
                self.proxy = proxy
                self.other = other
                self.fault = fault
                self.isRequest = isRequest
            }

            func channelActive(context: ChannelHandlerContext) {
                context.fireChannelActive()
                context.read()
            }

            func channelRead(context: ChannelHandlerContext, data: NIOAny) {
                var buffer = unwrapInboundIn(data)
                let count = buffer.readableBytes
                let channel = context.channel
                if isRequest { proxy.note(buffer) }
                switch fault?.end {
                case .cut(let limit) where passed + count > limit:
                    // What went before the cut may arrive.
                    if let part = buffer.readSlice(length: max(0, limit - passed)) {
                        other.writeAndFlush(part, promise: nil)
                    }
                    other.close(promise: nil)
                    channel.close(promise: nil)
                    return
                case .silence(let limit, let ofRequests) where ofRequests == isRequest && passed + count > limit:
                    passed += count
                    return
                default: passed += count
                }
                pass(buffer, channel)
            }

            private func pass(_ buffer: ByteBuffer, _ channel: any Channel) {
                let delay = TimeAmount.milliseconds(Int64(fault?.delayMilliseconds ?? 0))
                Self.pass(buffer, inPiecesOf: fault?.piece ?? .max, from: channel, to: other, in: delay)
            }

            /// Passes on a piece, and the rest a millisecond later; only then more is read.
            private static func pass(
                _ buffer: ByteBuffer, inPiecesOf piece: Int, from channel: any Channel, to other: any Channel,
                in delay: TimeAmount
            ) {
                channel.eventLoop.scheduleTask(in: delay) {
                    var rest = buffer
                    if let part = rest.readSlice(length: min(piece, rest.readableBytes)) {
                        other.writeAndFlush(part, promise: nil)
                    }
                    guard rest.readableBytes > 0 else { return channel.read() }
                    pass(rest, inPiecesOf: piece, from: channel, to: other, in: .milliseconds(1))
                }
            }

            func channelInactive(context: ChannelHandlerContext) { other.close(promise: nil) }

            func errorCaught(context: ChannelHandlerContext, error: any Error) {
                // A connection that was reset ends like any other.
                context.close(promise: nil)
            }
        }
    }
#endif
