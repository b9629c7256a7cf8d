import Foundation

/// Standard input, a message a line, until it ends.
struct MCPInput {
    /// Longer lines aren't kept.
    static let lineLimit = 4 << 20
    /// How long calls may take that run when the input has ended.
    static let graceSeconds = 2.0

    let server: MCPServer

    /// Hands each line over as it comes, and returns when the input has ended and no call is left.
    func run() {
        var lines = LineSplitter(limit: Self.lineLimit)
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while !server.output.isReaderGone {
            let count = read(0, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            lines.feed(buffer[..<count]) { server.receive($0) }
        }
        if let line = lines.rest() { server.receive(line) }
        // What was asked before a pipe ended is answered, if that doesn't take long.
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.graceSeconds) { [server] in server.cancelAll() }
        server.waitForCalls()
    }
}
