import Foundation
import StorageCore

/// Buffered writing to standard output.
///
/// On a terminal every write is flushed at once. Elsewhere bytes are flushed when the buffer is full, or at a write after the oldest have waited a
/// while, so that the first lines of a long search arrive early. Call `flush` before the program exits or waits.
///
/// The process must ignore SIGPIPE; then a closed reader is reported as `BrokenPipe`, if one is needed. Any other failure is an `OutputFailure`.
final class StandardOutput {
    private static let bufferSize = 1 << 16
    private static let longestWait = Duration.milliseconds(30)

    /// Whether the output is all that the command is for. Otherwise it is discarded without a reader, so that the command ends with its status.
    var needsReader = true
    private let descriptor: Int32
    private let flushesAlways: Bool
    private var buffer: [UInt8] = []
    private var oldest = ContinuousClock.now

    init(descriptor: Int32 = 1, isTerminal: Bool = isatty(1) == 1) {
        self.descriptor = descriptor
        flushesAlways = isTerminal
        buffer.reserveCapacity(Self.bufferSize)
    }

    func write(_ bytes: some Collection<UInt8>) throws {
        if buffer.isEmpty { oldest = ContinuousClock.now }
        buffer.append(contentsOf: bytes)
        if flushesAlways || buffer.count >= Self.bufferSize || ContinuousClock.now - oldest >= Self.longestWait {
            try flush()
        }
    }

    func write(_ text: String) throws { try write(text.utf8) }

    func writeLine(_ text: String) throws { try write(text + "\n") }

    /// Writes the writer's bytes and empties it.
    func write(_ writer: inout JSONWriter) throws {
        try write(writer.bytes)
        writer.bytes.removeAll(keepingCapacity: true)
    }

    func flush() throws {
        guard !buffer.isEmpty else { return }
        defer { buffer.removeAll(keepingCapacity: true) }
        if descriptor == 1 { Pager.startIfWanted() }
        try buffer.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let slice = UnsafeRawBufferPointer(rebasing: rest)
                let count = Foundation.write(descriptor, slice.baseAddress, slice.count)
                if count >= 0 {
                    rest = rest.dropFirst(count)
                } else if errno == EAGAIN {
                    // Another program has made the pipe non-blocking.
                    var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    _ = Foundation.poll(&poll, 1, -1)
                } else if errno == EPIPE {
                    guard needsReader else { return }
                    throw BrokenPipe()
                } else if errno != EINTR {
                    throw OutputFailure(code: errno)
                }
            }
        }
    }
}

extension StandardOutput {
    /// Whether the pipe of standard output has no reader any more.
    static var isReaderGone: Bool {
        var poll = pollfd(fd: 1, events: 0, revents: 0)
        return Foundation.poll(&poll, 1, 0) > 0 && poll.revents & Int16(POLLERR) != 0
    }
}
