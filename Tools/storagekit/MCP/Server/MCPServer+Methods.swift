import Foundation
import Synchronization

extension MCPServer {
    private static let versionKey = "io.modelcontextprotocol/protocolVersion"
    private static let serverKey = "io.modelcontextprotocol/serverInfo"
    /// How long a client may cache the list of tools, which is constant in this program.
    private static let lifetimeMilliseconds = 3_600_000

    /// Answers a request.
    func answer(
        _ method: String, _ message: MCPMessage, id: String, reply: @escaping @Sendable (String?) -> Void
    ) throws {
        if method == "initialize" { return reply(Self.response(to: id, try initialize(message))) }
        let version = try version(of: message, method)
        switch method {
        case "ping" where version.hasHandshake: reply(Self.response(to: id, [:]))
        case "server/discover" where !version.hasHandshake: reply(Self.response(to: id, Self.discovery))
        case "tools/list": reply(Self.response(to: id, try list(message, version)))
        case "tools/call": try call(message, version, id: id, reply: reply)
        default:
            throw MCPFailure(
                .methodNotFound,
                "There is no method \"\(method.prefix(100))\" in \(version.rawValue). This server has tools/list and tools/call."
            )
        }
    }

    private static func response(to id: String, _ result: MCPValue) -> String {
        let response: MCPValue = ["jsonrpc": "2.0", "id": .json(id), "result": result]
        return response.text
    }

    // MARK: Versions

    private static let info: MCPValue = [
        "name": "storagekit", "title": "StorageKit", "version": .text(ToolVersion.text),
    ]

    private func initialize(_ message: MCPMessage) throws(MCPFailure) -> MCPValue {
        guard let asked = message.string("protocolVersion") else {
            throw MCPFailure(.invalidParameters, "initialize needs a protocolVersion, such as \"2025-06-18\".")
        }
        let version = MCPVersion(rawValue: asked).flatMap { $0.hasHandshake ? $0 : nil } ?? .newestWithHandshake
        let isFirst = state.withLock { state in
            defer { state.version = state.version ?? version }
            return state.version == nil
        }
        guard isFirst else { throw MCPFailure(.invalidRequest, "This session is initialized already.") }
        return [
            "protocolVersion": .text(version.rawValue), "capabilities": ["tools": [:]], "serverInfo": Self.info,
            "instructions": .text(MCPInstructions.text),
        ]
    }

    /// Returns the version in which a request is answered.
    private func version(of message: MCPMessage, _ method: String) throws(MCPFailure) -> MCPVersion {
        if let named = message.meta[Self.versionKey] {
            let name = MCPMessage.string(named) ?? named
            guard let version = MCPVersion(rawValue: name), !version.hasHandshake else {
                throw MCPFailure(
                    .unsupportedVersion, "There is no version \"\(name.prefix(100))\" of requests without a handshake.",
                    data: [
                        "supported": .array(Self.supported.map { .text($0.rawValue) }),
                        "requested": .text(String(name.prefix(100))),
                    ])
            }
            return version
        }
        // A ping is allowed before the handshake.
        if method == "ping" { return state.withLock { $0.version } ?? .newestWithHandshake }
        guard let version = state.withLock({ $0.version }) else {
            throw MCPFailure(
                .invalidRequest, "Send initialize first, or name the protocol's version in _meta: \(Self.versionKey).")
        }
        return version
    }

    /// Newest first.
    private static let supported = MCPVersion.allCases.sorted(by: >)

    private static let discovery: MCPValue = modern([
        "supportedVersions": .array(supported.map { .text($0.rawValue) }), "capabilities": ["tools": [:]],
        "instructions": .text(MCPInstructions.text), "ttlMs": .integer(lifetimeMilliseconds), "cacheScope": "public",
    ])

    /// Adds the members that each result has in revisions without a handshake.
    private static func modern(_ result: MCPValue) -> MCPValue {
        let head: MCPValue = ["resultType": "complete"]
        let meta: MCPValue = ["_meta": [serverKey: info]]
        return head.adding(result).adding(meta)
    }

    // MARK: Tools

    private func list(_ message: MCPMessage, _ version: MCPVersion) throws -> MCPValue {
        if let cursor = message.parameters["cursor"], cursor != "null" {
            throw MCPFailure(.invalidParameters, "The list of tools has one page; ask without a cursor.")
        }
        let list: MCPValue = ["tools": .array(try MCPTool.all.map { try $0.listing(for: version) })]
        guard !version.hasHandshake else { return list }
        return Self.modern(list.adding(["ttlMs": .integer(Self.lifetimeMilliseconds), "cacheScope": "public"]))
    }

    private func call(
        _ message: MCPMessage, _ version: MCPVersion, id: String, reply: @escaping @Sendable (String?) -> Void
    ) throws {
        guard let name = message.string("name") else {
            throw MCPFailure(.invalidParameters, "tools/call needs the name of a tool.")
        }
        guard let tool = MCPTool.named(name) else {
            let similar = Suggestions.nearest(to: name, among: MCPTool.all.map(\.name))
            throw MCPFailure(
                .invalidParameters,
                "There is no tool \"\(name.prefix(100))\". "
                    + (similar.isEmpty
                        ? "tools/list has them all." : "Did you mean \(similar.joined(separator: ", "))?"))
        }
        let ended: @Sendable (MCPCall.Outcome) -> Void = { reply(Self.response(to: id, $0, version)) }
        let question: MCPQuestion
        do {
            question = try self.question(to: tool, message)
        } catch let error as CommandError {
            // The caller can correct this, so it is a result of the tool.
            return ended(.failure(error.rendered(style: .plain)))
        }
        let call = MCPCall(question, of: store, limits: limits, cursors: cursors)
        try start(call, id: id, progress: progress(of: message, version, call), ended: ended)
    }

    private func question(to tool: MCPTool, _ message: MCPMessage) throws -> MCPQuestion {
        var arguments: [String: String] = [:]
        if let given = message.parameters["arguments"], given != "null" {
            do {
                arguments = try MCPMessage.members(of: given)
            } catch {
                throw MCPFailure(.invalidParameters, "The arguments are an object.")
            }
        }
        let limit = try tool.hasRows ? arguments["limit"].map(MCPTool.limit) : nil
        var question: MCPQuestion
        if tool.hasRows, let cursor = arguments["cursor"].flatMap(MCPMessage.string) {
            question = try cursors.question(for: cursor, of: tool)
        } else {
            question = MCPQuestion(tool: tool, words: try tool.words(for: arguments))
        }
        if let limit { question.limit = limit }
        return question
    }

    private func progress(
        of message: MCPMessage, _ version: MCPVersion, _ call: MCPCall
    ) -> @Sendable (_ seconds: Int) -> Void {
        guard let token = message.meta["progressToken"].flatMap(MCPMessage.identifier) else { return { _ in } }
        let total = Int(limits.seconds.rounded(.up))
        return { [output] seconds in
            guard !call.isCancelled else { return }
            var parameters: MCPValue = [
                "progressToken": .json(token), "progress": .integer(seconds), "total": .integer(total),
            ]
            if version.hasProgressMessages {
                parameters = parameters.adding([
                    "message": .text("\(call.question.tool.name): \(seconds) of \(total) s")
                ])
            }
            let notification: MCPValue = [
                "jsonrpc": "2.0", "method": "notifications/progress", "params": parameters,
            ]
            output.write(notification.text)
        }
    }

    /// - Returns: nil if the client has cancelled the request.
    private static func response(to id: String, _ outcome: MCPCall.Outcome, _ version: MCPVersion) -> String? {
        var result: MCPValue
        switch outcome {
        case .cancelled: return nil
        case .failure(let text):
            result = ["content": [["type": "text", "text": .text(text)]], "isError": true]
        case .answer(let json):
            result = ["content": [["type": "text", "text": .text(json)]]]
            if version.hasStructuredContent { result = result.adding(["structuredContent": .json(json)]) }
            result = result.adding(["isError": false])
        }
        return response(to: id, version.hasHandshake ? result : modern(result))
    }
}

extension MCPTool {
    /// - Throws: `usage` if it isn't a number of rows.
    fileprivate static func limit(_ json: String) throws(CommandError) -> Int {
        guard json != "null" else { return defaultRows }
        guard let limit = Int(json), (1...maximumRows).contains(limit) else {
            throw CommandError(
                .usage, "limit is an integer from 1 to \(maximumRows).", why: "Given is \(json.prefix(100)).")
        }
        return limit
    }
}
