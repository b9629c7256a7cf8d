import Foundation
import TestSupport
import Testing

@testable import StorageKitTool

/// What `storagekit mcp` says to clients of each version, and to such that don't keep to any.
@Suite struct MCPProtocolTests {
    private func sample() async throws -> String { try await SampleStore.shared.value.path }

    private func code(_ message: [String: Any]) -> Int? { (message["error"] as? [String: Any])?["code"] as? Int }

    private static let initialize =
        #"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}}"#

    /// A whole session, line by line.
    @Test("A session is as recorded")
    func transcript() async throws {
        let client = try await MCPClient(try await sample(), version: nil)
        var text = ""
        for line in [
            Self.initialize, #"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            #"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, #"{"jsonrpc":"2.0","id":"two","method":"tools/list"}"#,
            #"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"log","arguments":{"limit":1}}}"#,
            #"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"show","arguments":{"point":"t:3"}}}"#,
            #"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"blame","arguments":{"target":"post/b"}}}"#,
            #"{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"log","arguments":{"tabel":"posts"}}}"#,
            #"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"histroy"}}"#,
            #"{"jsonrpc":"2.0","id":8,"method":"resources/list"}"#,
        ] {
            text += "> \(line)\n"
            try client.send(line)
            if line.contains("\"id\"") { text += "< \(try #require(await client.nextLine()))\n" }
        }
        #expect(client.end() == 0)
        text = text.replacing(#/(bytes|raw_bytes)(\\?"):\d+/#) { "\($0.1)\($0.2):0" }
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Golden/mcp-session.txt")
        if ProcessInfo.processInfo.environment["RECORD_GOLDEN"] == "1" {
            try Data(text.utf8).write(to: file)
        } else {
            #expect(text == String(decoding: try Data(contentsOf: file), as: UTF8.self))
        }
    }

    @Test(
        "Each version gets what it knows",
        arguments: ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
    func versions(version: String) async throws {
        let client = try await MCPClient(try await sample(), version: version)
        let list = try #require(try await client.request("tools/list")["result"] as? [String: Any])
        let tools = try #require(list["tools"] as? [[String: Any]])
        #expect(tools.map { $0["name"] as? String } == MCPTool.all.map(\.name))
        let isStructured = version >= "2025-06-18"
        #expect(
            tools.allSatisfy { ($0["outputSchema"] != nil) == isStructured && ($0["title"] != nil) == isStructured })
        #expect(tools.allSatisfy { ($0["annotations"] != nil) == (version >= "2025-03-26") })
        let answer = try await client.call("sql", ["sql": "SELECT 1 AS one"])
        #expect((answer.structured != nil) == isStructured)
        #expect(answer.text.contains(#""rows":[{"one":1}]"#))
        // Only one version has several messages in an array.
        try client.send(
            #"[{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","method":"x"},{"jsonrpc":"2.0","id":"b","method":"tools/call","params":{"name":"tags"}}]"#
        )
        let line = try #require(await client.nextLine())
        if version == "2025-03-26" {
            let batch = try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [[String: Any]])
            #expect(Set(batch.compactMap { $0["id"] as? String }) == ["a", "b"])
        } else {
            #expect(code(try MCPClient.object(line)) == -32_600)
        }
    }

    @Test("A client of an unknown version is offered the newest with a handshake")
    func unknownVersion() async throws {
        let client = try await MCPClient(try await sample(), version: nil)
        let answer = try await client.request("initialize", #"{"protocolVersion":"2099-01-01"}"#)
        #expect((answer["result"] as? [String: Any])?["protocolVersion"] as? String == "2025-11-25")
        #expect(code(try await client.request("initialize", #"{"protocolVersion":"2025-06-18"}"#)) == -32_600)
    }

    @Test("Requests may name the version themselves")
    func withoutHandshake() async throws {
        let client = try await MCPClient(try await sample(), version: nil)
        func meta(_ version: String) -> String {
            #""_meta":{"io.modelcontextprotocol/protocolVersion":"\#(version)","io.modelcontextprotocol/clientCapabilities":{}}"#
        }
        let discovered = try await client.request("server/discover", "{\(meta("2026-07-28"))}")
        let result = try #require(discovered["result"] as? [String: Any])
        #expect((result["supportedVersions"] as? [String])?.first == "2026-07-28")
        #expect(result["resultType"] as? String == "complete")
        let listed = try await client.request("tools/list", "{\(meta("2026-07-28"))}")
        #expect((listed["result"] as? [String: Any])?["ttlMs"] as? Int == 3_600_000)
        let called = try await client.request(
            "tools/call", #"{"name":"sql","arguments":{"sql":"SELECT 1 AS one"},\#(meta("2026-07-28"))}"#)
        #expect((called["result"] as? [String: Any])?["resultType"] as? String == "complete")
        let refused = try await client.request("tools/list", "{\(meta("1900-01-01"))}")
        #expect(code(refused) == -32_022)
        #expect(code(try await client.request("ping", "{\(meta("2026-07-28"))}")) == -32_601)
        #expect(code(try await client.request("tools/list")) == -32_600)
    }

    /// Lines, and the codes of the errors that answer them.
    static let hostileLines: [(line: String, code: Int)] = [
        ("{", -32_700), ("hello", -32_700), (#"{"jsonrpc":"2.0","id":1,"method":"ping"} x"#, -32_700),
        (#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, -32_700), ("\u{0}", -32_700), ("1", -32_600),
        ("null", -32_600), ("[]", -32_600), (#"{"id":1,"method":"ping"}"#, -32_600),
        (#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32_600),
        (#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32_600),
        (#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32_600),
        (#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32_600),
        (#"{"jsonrpc":"2.0","id":1,"method":7}"#, -32_600), (#"{"jsonrpc":"2.0","id":1}"#, -32_600),
        (#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}"#, -32_602),
        (#"{"jsonrpc":"2.0","id":1,"method":"nothing"}"#, -32_601),
        (#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#, -32_602),
        (#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rm"}}"#, -32_602),
        (#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"log","arguments":[]}}"#, -32_602),
        (#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}"#, -32_602),
        (String(repeating: "[", count: 100_000), -32_700),
        (
            #"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"\#(String(ascii: "a", count: 5_000_000))"}}"#,
            -32_600
        ),
    ]

    @Test("Lines that are no requests are errors, and the next is answered")
    func hostileInput() async throws {
        let client = try await MCPClient(try await sample())
        for (line, expected) in Self.hostileLines {
            try client.send(line)
            let message = try await client.next()
            #expect(code(message) == expected, "\(line.prefix(200)): \(message)")
            let error = message["error"] as? [String: Any]
            let text = error?["message"] as? String
            #expect(text?.isEmpty == false)
        }
        // Neither notifications nor answers to nothing are answered, nor blank lines.
        for line in [
            "", "\r", #"{"jsonrpc":"2.0","method":"nothing"}"#, #"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            #"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"none"}}"#,
            #"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#,
        ] { try client.send(line) }
        #expect(try await client.request("ping")["result"] != nil)
        #expect(client.end() == 0)
    }

    @Test("Before the handshake there is only ping")
    func beforeHandshake() async throws {
        let client = try await MCPClient(try await sample(), version: nil)
        #expect(code(try await client.request("tools/list")) == -32_600)
        #expect(code(try await client.request("tools/call", #"{"name":"tags"}"#)) == -32_600)
        #expect(try await client.request("ping")["result"] != nil)
        #expect(code(try await client.request("initialize")) == -32_602)
    }

    /// Arguments that would be options, files, or statements that write.
    static let hostileCalls: [(tool: String, arguments: [String: any Sendable])] = [
        ("log", ["targets": ["--store=/etc/passwd"]]), ("log", ["targets": "-s"]), ("log", ["since": "--help"]),
        ("doctor", ["fix": true]), ("doctor", ["deep": 1]), ("tags", ["name": "x"]), ("notes", ["point": "--delete"]),
        ("verify", ["store": "/etc/passwd"]), ("sql", ["sql": "-"]), ("sql", ["sql": ""]), ("sql", ["sql": 7]),
        ("sql", [:]),
        ("sql", ["sql": "DELETE FROM posts"]), ("sql", ["sql": "SELECT 1; DELETE FROM posts"]),
        ("sql", ["sql": "ATTACH '/tmp/x.sqlite' AS x"]), ("sql", ["sql": "PRAGMA journal_mode = DELETE"]),
        ("sql", ["sql": "SELECT load_extension('x')"]), ("sql", ["sql": "SELECT writefile('/tmp/x', 'y')"]),
        ("sql", ["sql": "VACUUM INTO '/tmp/x.sqlite'"]), ("at", ["point": "head", "sql": "DROP TABLE posts"]),
        ("at", ["point": "head", "sql": "posts", "each": "--help"]), ("bisect", ["sql": "DELETE FROM posts"]),
        ("bisect", ["run": "rm -rf /", "sql": "SELECT 1"]), ("explain", ["sql": "SELECT 1; DELETE FROM posts"]),
        ("explain", ["sql": "DELETE FROM posts"]), ("log", ["limit": 0]), ("log", ["limit": "1"]),
        ("log", ["limit": 1e9]),
        ("grep", ["pattern": "("]), ("grep", ["pattern": "(", "regex": true]), ("show", ["point": "t:99"]),
        ("plan_undo", ["yes": true]), ("plan_undo", ["of": "nobody --yes"]), ("history", ["target": "posts"]),
        ("log", ["where": "1); DELETE FROM posts; --"]),
    ]

    @Test("No argument writes, and wrong ones say what to do")
    func hostileArguments() async throws {
        let store = try await SampleStore()
        let before = try Data(contentsOf: URL(fileURLWithPath: store.path))
        let client = try await MCPClient(store.path)
        for (tool, arguments) in Self.hostileCalls {
            let answer = try await client.call(tool, arguments)
            // A pattern that nothing matches, and an actor who did nothing, aren't wrong.
            if answer.isError { #expect(answer.text.hasPrefix("error: "), "\(tool) \(arguments): \(answer.text)") }
            let mayBeRight = ["(", "nobody --yes"].contains { value in
                arguments.values.contains { $0 as? String == value }
            }
            #expect(answer.isError || mayBeRight, "\(tool) \(arguments): \(answer.text)")
        }
        client.end()
        #expect(try Data(contentsOf: URL(fileURLWithPath: store.path)) == before)
        #expect(!FileManager.default.fileExists(atPath: "/tmp/x.sqlite"))
    }

    @Test("Stored text is data, and nothing in it is hidden")
    func storedText() async throws {
        let store = try await SampleStore()
        let text = "ignore \u{1b}[31m\u{202e}\u{e0041}\u{200b}\u{85}\n previous"
        #expect(
            try ToolProcess.run(
                ["exec", "UPDATE users SET name = '\(text)'", "--yes"], store: store.path
            ).status == 0)
        let client = try await MCPClient(store.path)
        try client.send(
            #"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"sql","arguments":{"sql":"SELECT name FROM users"}}}"#
        )
        let line = try #require(await client.nextLine())
        #expect(line.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value < 0x7f })
        let result = try #require(try MCPClient.object(line)["result"] as? [String: Any])
        #expect(try MCPToolAnswer(result).rows.first?["name"] as? String == text)
        let answer = try await client.request("tools/list")
        #expect(answer["result"] != nil)
    }

    @Test("A store that isn't there ends the server at once")
    func missingStore() throws {
        let folder = try TemporaryFolder()
        let outcome = try ToolProcess.run(["mcp", "-s", folder.path("none.sqlite")], store: nil, input: "")
        #expect(outcome.status == 3)
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors.hasPrefix("error: "))
    }
}
