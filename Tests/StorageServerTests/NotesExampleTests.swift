#if STORAGE_SERVER
    import AsyncHTTPClient
    import Foundation
    import NIOCore
    import NIOHTTP1
    import TestSupport
    import Testing

    /// `Examples/Notes/start` as a process.
    @Suite(.timeLimit(.minutes(10))) struct NotesExampleTests {
        private static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Examples/Notes/start").path

        /// A port that nobody has at the moment, and that the system gives to nobody who doesn't ask for it.
        private static func freePort() throws -> Int {
            let outcome = Process()
            outcome.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            let program = """
                import random, socket
                for port in random.sample(range(20000, 32000), 100):
                    try:
                        socket.socket().bind(("127.0.0.1", port))
                        print(port)
                        break
                    except OSError: pass
                """
            outcome.arguments = ["python3", "-c", program]
            let output = Pipe()
            outcome.standardOutput = output
            try outcome.start()
            let text = output.fileHandleForReading.readDataToEndOfFile()
            return try #require(Int(String(decoding: text, as: UTF8.self).trimmingCharacters(in: .newlines)))
        }

        @Test("It serves the page and a hub that takes the token")
        func start() async throws {
            let folder = try TemporaryFolder()
            let port = try Self.freePort()
            let tool = LineProcess.path(of: "storagekit")
            let process = try LineProcess(
                Self.script, [folder.path("notes.sqlite"), "0", "\(port)"], environment: ["STORAGEKIT": tool])
            // The hub and the script print in either order.
            var (serving, open) = (String?.none, String?.none)
            _ = await process.next { line in
                if line.hasPrefix("Serving on ") { serving = line }
                if line.hasPrefix("Open ") { open = line }
                return serving != nil && open != nil
            }
            let hub = try #require(serving).dropFirst("Serving on ".count)
            let token = try #require(open?.split(separator: " ").last)

            var put = HTTPClientRequest(url: "\(hub)/v1/collections/notes/documents/1")
            put.method = .PUT
            put.headers.add(name: "Authorization", value: "Bearer \(token)")
            put.headers.add(name: "Content-Type", value: "application/json")
            put.headers.add(name: "Origin", value: "http://localhost:\(port)")
            put.body = .bytes(Data(#"{"title": "Milk", "done": false}"#.utf8))
            let written = try await HTTPClient.shared.execute(put, timeout: .seconds(60))
            #expect(written.status == .ok || written.status == .created, "\(written.status)")
            #expect(written.headers.first(name: "Access-Control-Allow-Origin") == "http://localhost:\(port)")
            // The page's own server may need a moment more.
            var page: HTTPClientResponse?
            try await eventually {
                let request = HTTPClientRequest(url: "http://127.0.0.1:\(port)/")
                page = try? await HTTPClient.shared.execute(request, timeout: .seconds(5))
                return page != nil
            }
            let text = try await #require(page).body.collect(upTo: 1 << 20)
            #expect(String(decoding: text.readableBytesView, as: UTF8.self).contains("app.js"))
            process.kill(SIGTERM)
            #expect(process.end() == 0)
        }
    }
#endif
