import Synchronization

/// Standard output, one message for each line. Nothing else may be written there.
///
/// `Sendable`: each message is written whole, one at a time.
final class MCPOutput: Sendable {
    private let output = Mutex(StandardOutput())
    private let isClosed = Mutex(false)

    /// Whether a message couldn't be written, because the client no longer reads.
    var isReaderGone: Bool { isClosed.withLock { $0 } }

    func write(_ message: String) {
        output.withLock { output in
            do {
                try output.writeLine(message)
                try output.flush()
            } catch {
                isClosed.withLock { $0 = true }
            }
        }
    }
}
