#if STORAGE_SERVER
    internal import HTTPTypes
    internal import NIOCore
    internal import NIOHTTPTypes

    /// Closes a connection whose client doesn't read its answers, or keeps sending after the answer.
    ///
    /// Hummingbird closes connections that are idle before and between requests. It waits without limit for an answer
    /// to be written, and for the rest of a request that is already answered. So the following is enforced here:
    ///
    /// 1. While a part of an answer waits to be written, some data is sent within ``HubLimits/writeSeconds``. Large
    ///    parts are written in pieces, so that a slow client isn't mistaken for one that reads nothing.
    /// 2. The rest of a request arrives within ``HubLimits/bodySeconds`` of its answer, and so does the client's end of
    ///    a connection after the server's.
    /// 3. An answer with `Connection: close` is the last one.
    /// 4. A server that shuts down waits for ``HubLimits/lastWriteSeconds`` only, and one that is cancelled doesn't
    ///    wait.
    ///
    /// A client that expects `100-continue` is answered so at once. A request is the last one if its `Connection` has `close` among
    /// others, or in capital letters: Hummingbird only knows the word by itself.
    ///
    /// Isolation: the channel's event loop.
    final class ConnectionLimiter: ChannelDuplexHandler, RemovableChannelHandler {
        typealias InboundIn = HTTPRequestPart
        typealias InboundOut = HTTPRequestPart
        typealias OutboundIn = HTTPResponsePart
        typealias OutboundOut = HTTPResponsePart

        /// The size of a single write.
        private static let pieceBytes = 64 << 10

        private let writeLimit: TimeAmount
        private let lastWriteLimit: TimeAmount
        private let restLimit: TimeAmount
        private var isStopping = false
        /// The number of pieces waiting to be written, and when the last one was written or the first began to wait.
        private var unwritten = 0
        private var lastWrite = NIODeadline.now()
        private var writeTimer: Scheduled<Void>?
        /// The number of complete requests, and of those that were answered.
        private var (requests, answers) = (0, 0)
        private var isLastAnswer = false
        private var restTimer: Scheduled<Void>?

        init(_ limits: HubLimits) {
            writeLimit = .seconds(Int64(limits.writeSeconds))
            lastWriteLimit = .seconds(Int64(min(limits.lastWriteSeconds, limits.writeSeconds)))
            restLimit = .seconds(Int64(limits.bodySeconds))
        }

        func handlerAdded(context: ChannelHandlerContext) {
            // Hummingbird adds handlers of its users behind the one that drops what this one needs.
            do { try RequestLineHandler.add(to: context.pipeline.syncOperations) } catch { context.close(promise: nil) }
        }

        func handlerRemoved(context: ChannelHandlerContext) {
            writeTimer?.cancel()
            restTimer?.cancel()
        }
    }

    // MARK: Answers

    extension ConnectionLimiter {
        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            switch unwrapOutboundIn(data) {
            case .head(let head):
                isLastAnswer = head.headerFields[.connection] == "close"
                write(.head(head), promise: promise, in: context)
            case .body(var rest):
                while rest.readableBytes > Self.pieceBytes, let piece = rest.readSlice(length: Self.pieceBytes) {
                    write(.body(piece), promise: nil, in: context)
                    // TLS combines everything that is flushed at once.
                    context.flush()
                }
                write(.body(rest), promise: promise, in: context)
            case .end(let trailers):
                answers += 1
                let promise = promise ?? context.eventLoop.makePromise()
                if requests < answers {
                    limitRest(context)
                } else if isLastAnswer {
                    promise.futureResult.assumeIsolated().whenComplete { _ in context.close(promise: nil) }
                }
                write(.end(trailers), promise: promise, in: context)
            }
        }

        private func write(
            _ part: HTTPResponsePart, promise: EventLoopPromise<Void>?, in context: ChannelHandlerContext
        ) {
            let promise = promise ?? context.eventLoop.makePromise()
            if unwritten == 0 { lastWrite = .now() }
            unwritten += 1
            promise.futureResult.assumeIsolated().whenComplete { _ in
                self.unwritten -= 1
                self.lastWrite = .now()
            }
            context.write(wrapOutboundOut(part), promise: promise)
            if writeTimer == nil, unwritten > 0 { limitWrites(context) }
        }

        private var writeDeadline: NIODeadline { lastWrite + (isStopping ? lastWriteLimit : writeLimit) }

        private func limitWrites(_ context: ChannelHandlerContext) {
            writeTimer = context.eventLoop.assumeIsolated().scheduleTask(deadline: writeDeadline) {
                self.writeTimer = nil
                guard self.unwritten > 0 else { return }
                if self.writeDeadline <= .now() { context.close(promise: nil) } else { self.limitWrites(context) }
            }
        }
    }

    // MARK: Requests

    extension ConnectionLimiter {
        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            var part = unwrapInboundIn(data)
            switch part {
            case .head(var head):
                if head.headerFields[.expect] != nil { allowBody(context) }
                if head.headerFields[.connection]?.headerList.contains("close") ?? false {
                    head.headerFields[.connection] = "close"
                }
                part = .head(head)
            case .body: break
            case .end:
                requests += 1
                if requests == answers {
                    restTimer?.cancel()
                    restTimer = nil
                    if isLastAnswer { closeWhenWritten(context) }
                }
            }
            context.fireChannelRead(wrapInboundOut(part))
        }

        /// Lets a client go on that waits with its body (RFC 9110, section 10.1.1). An answer to an earlier request would come
        /// first: the client sends the body after a while without this.
        private func allowBody(_ context: ChannelHandlerContext) {
            guard requests == answers else { return }
            context.writeAndFlush(wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
        }

        private func limitRest(_ context: ChannelHandlerContext) {
            guard restTimer == nil else { return }
            restTimer = context.eventLoop.assumeIsolated().scheduleTask(in: restLimit) {
                self.restTimer = nil
                self.closeWhenWritten(context)
            }
        }

        private func closeWhenWritten(_ context: ChannelHandlerContext) {
            // That has a time limit of its own.
            if unwritten == 0 { context.close(promise: nil) } else { limitRest(context) }
        }
    }

    // MARK: Ends

    extension ConnectionLimiter {
        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if event is ChannelShouldQuiesceEvent {
                isStopping = true
                writeTimer?.cancel()
                writeTimer = nil
                if unwritten > 0 { limitWrites(context) }
            }
            context.fireUserInboundEventTriggered(event)
        }

        func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
            switch mode {
            case .all: context.close(promise: promise)
            // Hummingbird cancels this way: the other half would wait for the client.
            case .input: context.close(promise: promise)
            case .output:
                context.close(mode: .output, promise: promise)
                limitRest(context)
            }
        }
    }
#endif
