#if STORAGE_HTTP
    import Foundation
    import TestSupport
    import StorageHTTP
    import Testing

    /// What a server can't do to its client: fill its memory, or hold it for ever.
    @Suite struct LimitTests {
        private let rows = [Chore(id: 1, title: "sweep")]

        @Test("A body that is too long by its length isn't read")
        func contentLengthOverLimit() async throws {
            // Waiting for the body would last until the timeout.
            let reply = Reply.raw("200 OK", ["Content-Length: 1000000000"], body: "[", end: .hold)
            try await TestServer.run({ _ in reply }) { server in
                let error = try await server.remote().error()
                #expect(error.code == .tooLarge)
                #expect(error.message.contains("16777216 bytes"))
                try await eventually { server.abandoned == 1 }
            }
        }

        @Test("A body that is one byte too long is refused")
        func bodyOneByteOverLimit() async throws {
            let json = rows.json
            let chunked = "\(String(json.utf8.count, radix: 16))\r\n\(json)\r\n0\r\n\r\n"
            try await TestServer.run({ request in
                request.path == "/chunked" ? .raw("200 OK", ["Transfer-Encoding: chunked"], body: chunked) : .ok(json)
            }) { server in
                for path in ["/chunked", "/plain"] {
                    let error = try await server.remote(path, maximumBytes: json.utf8.count - 1).error()
                    #expect(error.code == .tooLarge)
                }
            }
        }

        @Test("An endless body is abandoned at the limit")
        func endlessBody() async throws {
            try await TestServer.run({ _ in .raw("200 OK", ["Transfer-Encoding: chunked"], end: .endless) }) { server in
                let error = try await server.remote(maximumBytes: 1 << 20).error()
                #expect(error.code == .tooLarge)
                try await eventually { server.abandoned == 1 }
            }
        }

        @Test("A compressed body is refused")
        func compressedBody() async throws {
            try await TestServer.run({ _ in .ok("\u{1f}", ["Content-Encoding: gzip"]) }) { server in
                let error = try await server.remote().error()
                #expect(error.code == .undecodable)
                #expect(error.message.contains("compressed"))
            }
        }

        @Test("A server that doesn't answer is abandoned after the timeout")
        func silentServer() async throws {
            try await TestServer.run({ _ in .silence }) { server in
                let time = TaskTime()
                let error = try await server.remote(timeout: .milliseconds(100)).error()
                #expect(error.code == .timedOut)
                #expect(error.message.contains("0.1 s"))
                #expect(time.elapsed < .seconds(25))
                // On a busy machine the time may be over before the request has arrived.
                try await eventually { server.abandoned == server.requests.count }
            }
        }

        @Test("The timeout is for the body too")
        func timeoutOfBody() async throws {
            let reply = Reply.raw("200 OK", ["Content-Length: 100"], body: "[", end: .hold)
            try await TestServer.run({ _ in reply }) { server in
                let time = TaskTime()
                let error = try await server.remote(timeout: .milliseconds(100)).error()
                #expect(error.code == .timedOut)
                #expect(time.elapsed < .seconds(25))
                // On a busy machine the time may be over before the request has arrived.
                try await eventually { server.abandoned == server.requests.count }
            }
        }

        @Test("The timeout is for all redirects together")
        func timeoutOfRedirects() async throws {
            try await TestServer.run({ $0.path == "/late" ? .silence : .status("302 Found", ["Location: /late"]) }) {
                server in
                let time = TaskTime()
                let error = try await server.remote(timeout: .milliseconds(100)).error()
                #expect(error.code == .timedOut)
                #expect(time.elapsed < .seconds(25))
            }
        }

        @Test("Cancelling the task cancels the request")
        func cancellation() async throws {
            let replies = [Reply.silence, .raw("200 OK", ["Content-Length: 100"], body: "[", end: .hold)]
            for reply in replies {
                try await TestServer.run({ _ in reply }) { server in
                    let task = Task { try await server.remote().answer() }
                    try await eventually { server.requests.count == 1 }
                    task.cancel()
                    await #expect(throws: CancellationError.self) { _ = try await task.value }
                    try await eventually { server.abandoned == 1 }
                }
            }
        }

        #if os(Linux)
            /// Elsewhere a full queue refuses.
            @Test("Connecting has a timeout of its own")
            func connectTimeoutExpires() async throws {
                let socket = try LoopbackSocket()
                let waiting = try socket.listenWithFullQueue()
                defer { withExtendedLifetime((socket, waiting)) {} }
                let client = HTTPRemoteClient(connectTimeout: .milliseconds(100))
                let error = try await HTTPRemote(socket.origin, client: client).error()
                #expect(error.code == .timedOut)
                #expect(error.message.contains("within 0.1 s"))
            }
        #endif
    }
#endif
