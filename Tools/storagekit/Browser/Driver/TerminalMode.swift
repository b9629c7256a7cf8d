import Foundation
import Synchronization

/// The terminal as a full-screen program needs it: keys as they are pressed, a screen of its own; and as it was before.
///
/// Isolation: used by one thread; signal handlers only read what was stored before they were set.
enum TerminalMode {
    /// Another screen, no cursor, lines that don't wrap.
    private static let enterSequence = "\u{1b}[?1049h\u{1b}[?25l\u{1b}[?7l\u{1b}[2J"
    private static let leaveSequence = "\u{1b}[0m\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l"

    /// What the terminal was like; made once, and kept for handlers of signals, which can't wait for memory.
    ///
    /// `nonisolated(unsafe)` is sound: the memory is never freed, it is written by `enter` before any handler that reads it is set,
    /// and the thread that calls `enter` is the only one that calls `leave`.
    private nonisolated(unsafe) static let saved = UnsafeMutablePointer<termios>.allocate(capacity: 1)
    /// The same as bytes; never written after it was made, which is before the handlers are set.
    private nonisolated(unsafe) static let leaveBytes: UnsafeMutableBufferPointer<UInt8> = {
        let bytes = Array(leaveSequence.utf8)
        let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
        _ = buffer.initialize(from: bytes)
        return buffer
    }()
    /// Whether the terminal isn't as it was.
    private static let isEntered = Atomic(false)

    /// Takes the terminal.
    ///
    /// - Throws: `unavailable` where standard input can't be read key by key.
    static func enter() throws {
        guard tcgetattr(0, saved) == 0 else { throw failure }
        _ = leaveBytes
        var mode = saved.pointee
        cfmakeraw(&mode)
        isEntered.store(true, ordering: .sequentiallyConsistent)
        guard tcsetattr(0, TCSANOW, &mode) == 0 else { throw failure }
        write(enterSequence)
    }

    /// Gives it back as it was.
    static func leave() {
        guard isEntered.exchange(false, ordering: .sequentiallyConsistent) else { return }
        write(leaveSequence)
        tcsetattr(0, TCSADRAIN, saved)
    }

    /// The same where the process is about to die.
    static func restoreInHandler() {
        guard isEntered.exchange(false, ordering: .sequentiallyConsistent) else { return }
        _ = Foundation.write(1, leaveBytes.baseAddress, leaveBytes.count)
        tcsetattr(0, TCSANOW, saved)
    }

    /// What the terminal says of its size; the usual one where it says nothing.
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
