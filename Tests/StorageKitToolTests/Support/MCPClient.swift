import Foundation
import TestSupport
import Testing

/// A client of `storagekit mcp` that writes and reads lines.
final class MCPClient {
    private let process: LineProcess
    private var lastID = 0

    /// - Parameters:
    ///   - version: The version to agree on; nil for no handshake.
    ///   - temporary: Its folder of temporary files; that of the tests if nil.
    ///   - ignoresEndOfProcesses: Whether the server is started with SIGCHLD ignored.
    init(
        _ store: String, version: String? = "2025-06-18", temporary: String? = nil, ignoresEndOfProcesses: Bool = false,
        _ options: String...
    ) async throws {
        let environment = temporary.map { ["TMPDIR": $0] } ?? [:]
        let words = ["mcp", "-s", store] + options
        let start = ["python3", "-c", ToolProcess.ignoringEndOfProcesses, LineProcess.path(of: "storagekit")]
        process =
            ignoresEndOfProcesses
            ? try LineProcess("/usr/bin/env", start + words, environment: environment)
            : try LineProcess("storagekit", words, environment: environment)
        guard let version else { return }
        let answer = try await request(
            "initialize",
            #"{"protocolVersion":"\#(version)","capabilities":{},"clientInfo":{"name":"test","version":"1"}}"#)
        #expect((answer["result"] as? [String: Any])?["protocolVersion"] as? String == version)
        try process.send(#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
    }

    var processIdentifier: Int32 { process.processIdentifier }
    var isRunning: Bool { process.isRunning }

    func send(_ line: String) throws { try process.send(line) }

    /// The next message of the server.
    func next() async throws -> [String: Any] { try Self.object(try #require(await nextLine())) }

    func nextLine() async -> String? { await process.next(1).first }

    /// Sends a request and returns the response to it.
    func request(_ method: String, _ parameters: String = "{}") async throws -> [String: Any] {
        lastID += 1
        try process.send(#"{"jsonrpc":"2.0","id":\#(lastID),"method":"\#(method)","params":\#(parameters)}"#)
        var message = try await next()
        // Of a call that was cancelled: the server may not have seen that yet.
        while message["method"] as? String == "notifications/progress" { message = try await next() }
        #expect(message["id"] as? Int == lastID)
        return message
    }

    /// Calls a tool.
    func call(_ tool: String, _ arguments: [String: Any] = [:]) async throws -> MCPToolAnswer {
        let data = try JSONSerialization.data(withJSONObject: ["name": tool, "arguments": arguments])
        let message = try await request("tools/call", String(decoding: data, as: UTF8.self))
        let result = try #require(message["result"] as? [String: Any], "\(message)")
        return try MCPToolAnswer(result)
    }

    /// Closes its input and waits for its end.
    @discardableResult
    func end() -> Int32 { process.end() }

    func kill(_ signal: Int32 = SIGKILL) { process.kill(signal) }

    static func object(_ line: String) throws -> [String: Any] {
        try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
    }
}

/// What a tool answered.
struct MCPToolAnswer {
    let isError: Bool
    let text: String
    let structured: [String: Any]?

    init(_ result: [String: Any]) throws {
        isError = result["isError"] as? Bool ?? false
        let content = try #require((result["content"] as? [[String: Any]])?.first)
        text = try #require(content["text"] as? String)
        structured = result["structuredContent"] as? [String: Any]
    }

    var rows: [[String: Any]] { structured?["rows"] as? [[String: Any]] ?? [] }
    var isTruncated: Bool { structured?["truncated"] as? Bool ?? false }
    var cursor: String? { structured?["cursor"] as? String }
    var document: [String: Any] { structured?["document"] as? [String: Any] ?? [:] }
}
