import Foundation
import Synchronization

/// Puts the terminal into the mode of a full-screen program, with unbuffered keys and the alternate screen, and restores it.
///
/// Isolation: used by one thread; signal handlers only read what was stored before they were set.
enum TerminalMode {
    /// Alternate screen, hidden cursor, no line wrapping.
    private static let enterSequence = "\u{1b}[?1049h\u{1b}[?25l\u{1b}[?7l\u{1b}[2J"
    private static let leaveSequence = "\u{1b}[0m\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l"

    /// The terminal's previous settings; allocated once, because signal handlers can't allocate memory.
    ///
    /// `nonisolated(unsafe)` is sound: the memory is never freed, it is written by `enter` before any handler that reads it is set,
    /// and the thread that calls `enter` is the only one that calls `leave`.
    private nonisolated(unsafe) static let saved = UnsafeMutablePointer<termios>.allocate(capacity: 1)
    /// The leaving sequence as bytes; never written after its creation, which is before the handlers are set.
    private nonisolated(unsafe) static let leaveBytes: UnsafeMutableBufferPointer<UInt8> = {
        let bytes = Array(leaveSequence.utf8)
        let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
        _ = buffer.initialize(from: bytes)
        return buffer
    }()
    /// Whether the terminal is in full-screen mode.
    private static let isEntered = Atomic(false)

    /// Enters full-screen mode.
    ///
    /// - Throws: `unavailable` if standard input can't be read key by key.
    static func enter() throws {
        guard tcgetattr(0, saved) == 0 else { throw failure }
        _ = leaveBytes
        var mode = saved.pointee
        cfmakeraw(&mode)
        isEntered.store(true, ordering: .sequentiallyConsistent)
        guard tcsetattr(0, TCSANOW, &mode) == 0 else { throw failure }
        write(enterSequence)
    }

    /// Restores the terminal.
    static func leave() {
        guard isEntered.exchange(false, ordering: .sequentiallyConsistent) else { return }
        write(leaveSequence)
        tcsetattr(0, TCSADRAIN, saved)
    }

    /// Restores the terminal from a signal handler, before the process ends.
    static func restoreInHandler() {
        guard isEntered.exchange(false, ordering: .sequentiallyConsistent) else { return }
        _ = Foundation.write(1, leaveBytes.baseAddress, leaveBytes.count)
        tcsetattr(0, TCSANOW, saved)
    }

    /// The size that the terminal reports; a default if it reports none.
    static var size: FrameSize {
        var size = winsize()
        guard ioctl(1, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return FrameSize(rows: 24, columns: 80)
        }
        return FrameSize(rows: Int(size.ws_row), columns: Int(size.ws_col))
    }

    /// - Returns: Whether the terminal is still there.
    @discardableResult
    static func write(_ text: String) -> Bool {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Foundation.write(1, $0.baseAddress, $0.count) }
            if count > 0 {
                bytes = bytes.dropFirst(count)
            } else if errno == EAGAIN {
                var poll = pollfd(fd: 1, events: Int16(POLLOUT), revents: 0)
                _ = Foundation.poll(&poll, 1, -1)
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }

    private static var failure: CommandError {
        CommandError(
            .unavailable, "The terminal's mode can't be changed.", why: String(cString: strerror(errno)),
            next: "Use storagekit log, show or tail.")
    }
}
