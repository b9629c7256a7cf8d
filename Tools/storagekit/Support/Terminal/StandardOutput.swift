import Foundation
import StorageCore

/// Buffered writing to standard output.
///
/// On a terminal every write is shown at once. Elsewhere bytes are passed on when a buffer is full or, at the next
/// write, when the oldest have waited a while, so that the first lines of a long search arrive early. Call `flush`
/// before the program ends and before it waits.
///
/// SIGPIPE must be ignored by the process; then a reader that left shows as `BrokenPipe`.
final class StandardOutput {
    private static let bufferSize = 1 << 16
    private static let longestWait = Duration.milliseconds(30)

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

    /// Passes the writer's bytes on and empties it.
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
                    // A pipe that another program made non-blocking.
                    var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    _ = Foundation.poll(&poll, 1, -1)
                } else if errno == EPIPE {
                    throw BrokenPipe()
                } else if errno != EINTR {
                    throw CommandError(
                        .unavailable, "Writing the output failed.", why: String(cString: strerror(errno)),
                        next: "Free some space, or write to another disk.")
                }
            }
        }
    }
}

extension StandardOutput {
    /// Whether the pipe that standard output leads to has nobody at its other end.
    static var isReaderGone: Bool {
        var poll = pollfd(fd: 1, events: 0, revents: 0)
        return Foundation.poll(&poll, 1, 0) > 0 && poll.revents & Int16(POLLERR) != 0
    }
}
