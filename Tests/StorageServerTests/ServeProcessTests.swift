#if STORAGE_SERVER
    import AsyncHTTPClient
    import Foundation
    import NIOCore
    import NIOHTTP1
    import NIOPosix
    import TestSupport
    import Testing

    @testable import StorageHTTP
    @testable import StorageServer
    @testable import StorageSync

    /// `storagekit serve` as a process: how it begins, how it ends, and what it refuses.
    @Suite(.timeLimit(.minutes(10))) struct ServeProcessTests {
        private func serve(_ store: String, _ arguments: String...) async throws -> (process: LineProcess, url: String)
        {
            let process = try LineProcess("storagekit", ["serve", "-s", store, "--port", "0"] + arguments)
            let line = try #require(await process.next { $0.hasPrefix("Serving on ") }.last)
            return (process, String(line.dropFirst("Serving on ".count)))
        }

        private func run(_ program: String, _ arguments: [String]) throws -> (status: Int32, output: String) {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = [program] + arguments
            let output = Pipe()
            process.standardOutput = output
            process.standardError = output
            try process.start()
            let text = output.fileHandleForReading.readDataToEndOfFile()
            process.waitForEnd()
            return (process.terminationStatus, String(decoding: text, as: UTF8.self))
        }

        private func tool(_ arguments: String...) throws -> (status: Int32, output: String) {
            let folder = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            return try run(folder.appendingPathComponent("storagekit").path, arguments)
        }

        @Test("A signal ends it in order", arguments: [SIGTERM, SIGINT])
        func firstSignal(signal: Int32) async throws {
            let folder = try TemporaryFolder()
            let store = folder.path("hub.sqlite")
            let (process, url) = try await serve(store, "--create")
            let token = try tool("tokens", "-s", store, "create", "anna", "--write", "notes").output
                .trimmingCharacters(in: .newlines)
            let hub = HTTPHubClient(url: url + "/", token: { token }, client: .shared)
            let written: HubWritten = try await hub.message(
                .PUT, "v1/collections/notes/documents/1", body: HubFields(["n": "1"]))
            #expect(written.position > 0)
            var pull = HubPull(behind: written.position, of: ["notes"])
            pull.line = try await hub.page(HubPull(behind: 0, of: ["notes"])).line
            pull.wait = .seconds(25)
            let waiting = Task { [pull] in try await hub.pull(pull, as: .full) }
            // Time for the pull to be waiting in the other process.
            try await Task.sleep(for: .milliseconds(200))
            let start = ContinuousClock.now
            process.kill(signal)
            #expect(process.end() == 0)
            #expect(ContinuousClock.now - start < .seconds(22), "a waiting pull holds nothing up")
            // It was answered, or the connection was closed: either is tried again.
            _ = await waiting.result
            #expect(try tool("log", "-s", store, "notes").output.contains("anna"))
            #expect(try tool("verify", "-s", store).status == 0)
        }

        /// The first signal waits for a client that takes nothing of its answers, the second one for nobody.
        @Test("A second signal ends it at once")
        func secondSignal() async throws {
            let folder = try TemporaryFolder()
            let (process, url) = try await serve(folder.path("hub.sqlite"), "--create")
            let port = try #require(url.split(separator: ":").last.flatMap { Int($0) })
            let stalled = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .channelOption(.autoRead, value: false).connect(host: "127.0.0.1", port: port).get()
            let request = "GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
            try await stalled.writeAndFlush(ByteBuffer(string: String(repeating: request, count: 500)))
            // It has been read by then: connections are served side by side.
            _ = try await HTTPClient.shared.get(url: url + "/health").get()
            kill(process.processIdentifier, SIGTERM)
            kill(process.processIdentifier, SIGINT)
            // Who ends in order ends with 0.
            #expect([128 + SIGTERM, 128 + SIGINT].contains(process.end()))
            // By the end of the process, where that was noticed.
            try? await stalled.close()
        }

        /// Its supervisor starts another one, which opens the store again.
        @Test("It ends after a failure of the disk, and keeps what it has acknowledged")
        func failedDisk() async throws {
            let folder = try TemporaryFolder()
            let store = folder.path("hub.sqlite")
            // Larger files are refused, as on a full disk.
            let script = "trap '' XFSZ; ulimit -f 2048; exec \"$0\" serve -s \"$1\" --create --port 0"
            let process = try LineProcess("/bin/bash", ["-c", script, LineProcess.path(of: "storagekit"), store])
            let line = try #require(await process.next { $0.hasPrefix("Serving on ") }.last)
            let token = try tool("tokens", "-s", store, "create", "anna", "--write", "notes").output
                .trimmingCharacters(in: .newlines)
            let url = line.dropFirst("Serving on ".count) + "/"
            let hub = HTTPHubClient(url: String(url), token: { token }, client: .shared)
            var random = SplitMix64(seed: 1)
            var written = 0
            await #expect(throws: (any Error).self) {
                while written < 10_000 {
                    let text = (0..<500).map { _ in String(random.next(), radix: 36) }.joined()
                    let _: HubWritten = try await hub.message(
                        .PUT, "v1/collections/notes/documents/\(written)", body: HubFields(["text": "\"\(text)\""]))
                    written += 1
                }
            }
            #expect(process.end() == 4)
            let counted = try tool("sql", "-s", store, "SELECT count(*) FROM notes", "--format", "csv")
            #expect(counted.output.contains("\n\(written)\n"), "\(written): \(counted.output)")
            #expect(try tool("verify", "-s", store).status == 0)
        }

        @Test("It serves over TLS")
        func servingOverTLS() async throws {
            let folder = try TemporaryFolder()
            let (key, certificate) = (folder.path("key.pem"), folder.path("chain.pem"))
            let made = try run(
                "openssl",
                [
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key,
                    "-out", certificate,
                ])
            try #require(made.status == 0, "\(made.output)")
            let (process, url) = try await serve(
                folder.path("hub.sqlite"), "--create", "--tls-certificate", certificate, "--tls-key", key)
            #expect(url.hasPrefix("https://"))
            let script = """
                import ssl, sys, urllib.request
                context = ssl.create_default_context(cafile=sys.argv[2])
                print(urllib.request.urlopen(sys.argv[1] + "/health", context=context).read().decode())
                """
            let asked = try run("python3", ["-c", script, url, certificate])
            #expect(asked.output == "{\"status\":\"ok\"}\n", "\(asked.output)")
            try checkThatItRefuses(url, certificate)
            process.kill(SIGTERM)
            #expect(process.end() == 0)
            let wrong = try tool(
                "serve", "-s", folder.path("hub.sqlite"), "--port", "0", "--tls-certificate", key, "--tls-key", key)
            #expect(wrong.status != 0, "\(wrong.output)")
            #expect(wrong.output.contains("PEM"), "\(wrong.output)")
        }

        /// What a port with TLS must not answer to, and whom a client must not believe.
        private func checkThatItRefuses(_ url: String, _ certificate: String) throws {
            let port = String(try #require(url.split(separator: ":").last))
            let unencrypted = """
                import socket, sys
                connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 30)
                connection.sendall(b"GET /health HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n")
                answer = b""
                try:
                    while piece := connection.recv(4096): answer += piece
                except ConnectionResetError: pass
                print("ended", b"HTTP" in answer or b"ok" in answer)
                """
            let plain = try run("python3", ["-c", unencrypted, port])
            #expect(plain.output == "ended False\n", "\(plain.output)")
            let encrypted = """
                import socket, ssl, sys
                context = ssl.create_default_context(cafile=sys.argv[2] or None)
                context.minimum_version = ssl.TLSVersion.TLSv1
                context.maximum_version = getattr(ssl.TLSVersion, sys.argv[3])
                context.set_ciphers("DEFAULT@SECLEVEL=0")
                connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 30)
                print(context.wrap_socket(connection, server_hostname="localhost").version())
                """
            func connect(trusting certificate: String, upTo version: String) throws -> String {
                try run("python3", ["-W", "ignore", "-c", encrypted, port, certificate, version]).output
            }
            #expect(try connect(trusting: certificate, upTo: "TLSv1_2") == "TLSv1.2\n")
            // The server says so: the client would have taken it.
            let old = try connect(trusting: certificate, upTo: "TLSv1_1")
            #expect(old.contains("ALERT_PROTOCOL_VERSION"), "\(old)")
            let stranger = try connect(trusting: "", upTo: "TLSv1_3")
            #expect(stranger.contains("CERTIFICATE_VERIFY_FAILED"), "\(stranger)")
        }

        @Test("On loopback it answers to loopback names")
        func loopbackNames() async throws {
            let folder = try TemporaryFolder()
            let store = folder.path("hub.sqlite")
            func status(_ url: String, _ host: String) async throws -> UInt {
                var request = HTTPClientRequest(url: url + "/health")
                request.headers.add(name: "Host", value: host)
                return try await HTTPClient.shared.execute(request, timeout: .seconds(60)).status.code
            }
            let (process, url) = try await serve(store, "--create")
            let port = try #require(url.split(separator: ":").last)
            for host in ["localhost", "127.0.0.1:\(port)", "[::1]:\(port)", "LOCALHOST"] {
                #expect(try await status(url, host) == 200, "\(host)")
            }
            for host in ["hub.example", "localhost.hub.example", "127.0.0.1.hub.example"] {
                #expect(try await status(url, host) == 421, "\(host)")
            }
            process.kill(SIGTERM)
            #expect(process.end() == 0)
            let (named, address) = try await serve(store, "--host-name", "hub.example")
            #expect(try await status(address, "hub.example") == 200)
            #expect(try await status(address, "localhost") == 421)
            named.kill(SIGTERM)
            #expect(named.end() == 0)
        }

        @Test("What can't be served is refused")
        func refusals() async throws {
            let folder = try TemporaryFolder()
            let store = folder.path("hub.sqlite")
            let missing = try tool("serve", "-s", store, "--port", "0")
            #expect(missing.status != 0, "\(missing.output)")
            #expect(!FileManager.default.fileExists(atPath: store), "\(missing.output)")
            let (process, url) = try await serve(store, "--create")
            let busy = try tool("serve", "-s", store, "--port", "0")
            #expect(busy.status != 0, "\(busy.output)")
            #expect(busy.output.contains("Another writer"), "\(busy.output)")
            let port = try #require(url.split(separator: ":").last)
            let taken = try tool("serve", "-s", folder.path("other.sqlite"), "--create", "--port", String(port))
            #expect(taken.status != 0, "\(taken.output)")
            #expect(taken.output.contains("can't serve"), "\(taken.output)")
            process.kill(SIGTERM)
            #expect(process.end() == 0)
        }
    }
#endif
