#if STORAGE_SERVER
    internal import NIOCore
    internal import NIOHTTP1

    /// Obeys what the first line of a request says and Hummingbird's requests don't contain: its version, and the host in
    /// its target.
    ///
    /// 1. A client of HTTP/1.0, such as `curl -0`, can't read chunks, so an answer of unknown length ends with the
    ///    connection (RFC 9112, section 6.1). Such a request is the last one. It can't wait for `100 Continue` either
    ///    (RFC 9110, section 10.1.1). It may come without a `Host`, and gets an empty one, which names no host.
    /// 2. The host in an absolute target, as in `GET http://host/path`, replaces that in `Host` (RFC 9112, section 3.2.2).
    ///
    /// Isolation: the channel's event loop.
    final class RequestLineHandler: ChannelDuplexHandler, RemovableChannelHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias InboundOut = HTTPServerRequestPart
        typealias OutboundIn = HTTPServerResponsePart
        typealias OutboundOut = HTTPServerResponsePart

        /// The number of requests that have begun, and of answers that have ended.
        private var (requests, answers) = (0, 0)
        /// The number of requests before the first one of HTTP/1.0.
        private var oldRequest: Int?

        /// Adds a handler behind the one that parses requests.
        ///
        /// - Throws: If the pipeline doesn't parse requests.
        static func add(to pipeline: ChannelPipeline.SynchronousOperations) throws {
            let parser = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            try pipeline.addHandler(RequestLineHandler(), position: .after(parser))
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            var part = unwrapInboundIn(data)
            if case .head(var head) = part {
                if head.version == .http1_0 {
                    oldRequest = oldRequest ?? requests
                    head.headers.replaceOrAdd(name: "Connection", value: "close")
                    head.headers.remove(name: "Expect")
                }
                requests += 1
                if let host = Self.host(in: head.uri) { Self.replaceHost(in: &head.headers, by: host) }
                if head.version == .http1_0, !head.headers.contains(name: "Host") {
                    head.headers.add(name: "Host", value: "")
                }
                part = .head(head)
            }
            context.fireChannelRead(wrapInboundOut(part))
        }

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            var part = unwrapOutboundIn(data)
            switch part {
            case .head(var head):
                // The encoder makes chunks for HTTP/1.1 only.
                if answers == oldRequest { head.version = .http1_0 }
                part = .head(head)
            case .body: break
            case .end: answers += 1
            }
            context.write(wrapOutboundOut(part), promise: promise)
        }

        /// The host and port in an absolute target; nil for a path.
        private static func host(in target: String) -> Substring? {
            guard !target.hasPrefix("/"), let scheme = target.firstRange(of: "://") else { return nil }
            return target[scheme.upperBound...].prefix { !"/?#".contains($0) }
        }

        /// Only the first `Host`: a request with none, or with several different ones, stays malformed.
        private static func replaceHost(in headers: inout HTTPHeaders, by host: Substring) {
            let given = headers["Host"]
            guard !given.isEmpty else { return }
            headers.replaceOrAdd(name: "Host", value: String(host))
            for other in given.dropFirst() { headers.add(name: "Host", value: other) }
        }
    }
#endif
