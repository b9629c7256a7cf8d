import Foundation

/// Standard input, one message for each line, until it ends.
struct MCPInput {
    /// The maximum length of a line, in bytes.
    static let lineLimit = 4 << 20
    /// How long running calls may continue after the input has ended.
    static let graceSeconds = 2.0

    let server: MCPServer

    /// Passes each line to the server as it arrives, and returns when the input has ended and no call is left.
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
        // Requests from before the end of a pipe are still answered, if that doesn't take long.
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.graceSeconds) { [server] in server.cancelAll() }
        server.waitForCalls()
    }
}
