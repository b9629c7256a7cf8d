import Foundation

/// Standard input, one message for each line, until it ends.
struct MCPInput {
    /// The maximum length of a line, in bytes.
    static let lineLimit = 4 << 20
    /// How long running calls may continue after the input has ended.
    static let graceSeconds = 2.0

    let server: MCPServer

    /// Passes each line to the server as it arrives, and returns when the input has ended and no call is left.
    ///
    /// - Throws: `unavailable` if it can't be read.
    func run() throws(CommandError) {
        defer { end() }
        var lines = LineSplitter(limit: Self.lineLimit)
        try FileInput(path: "-").forEachPiece { bytes in
            lines.feed(bytes) { server.receive($0) }
            return !server.output.isReaderGone
        }
        if let line = lines.rest() { server.receive(line) }
    }

    /// Requests from before the end of a pipe are still answered, if that doesn't take long.
    private func end() {
        // A queue of its own: running calls may block all threads of the global ones.
        DispatchQueue(label: "storagekit.mcp.end").asyncAfter(deadline: .now() + Self.graceSeconds) { [server] in
            server.cancelAll()
        }
        server.waitForCalls()
    }
}
