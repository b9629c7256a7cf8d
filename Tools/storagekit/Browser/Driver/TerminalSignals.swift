import Foundation
import Synchronization

/// Signals of a full-screen process. They are written to a pipe, so that they are handled between two frames and not during one.
///
/// Isolation: the handlers run on any thread, at any time; they only use atomics and async-signal-safe calls of POSIX.
enum TerminalSignals {
    /// The signals that end the program, in order of precedence: a closed terminal, and requests to end.
    static let ending = [SIGHUP, SIGTERM, SIGINT, SIGQUIT]
    private static let others = [SIGWINCH, SIGCONT, SIGTSTP]
    private static let crashes = [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV]

    /// The end of the pipe that handlers write to; negative if there is none.
    private static let pipe = Atomic<Int32>(-1)

    /// Makes each of the signals write its number, as a byte, to a descriptor.
    static func start(writingTo descriptor: Int32) {
        pipe.store(descriptor, ordering: .sequentiallyConsistent)
        for number in ending + others { writeToPipe(number) }
        for number in crashes {
            signal(number) { number in
                TerminalMode.restoreInHandler()
                signal(number, SIG_DFL)
                raise(number)
            }
        }
    }

    static func stop() {
        pipe.store(-1, ordering: .sequentiallyConsistent)
        for number in ending + others + crashes { signal(number, SIG_DFL) }
    }

    /// Stops the process as a shell expects it, until it is continued.
    static func suspend() {
        signal(SIGTSTP, SIG_DFL)
        ThreadSignal.send(SIGTSTP)
        writeToPipe(SIGTSTP)
    }

    private static func writeToPipe(_ number: Int32) {
        signal(number) { number in
            let saved = errno
            var byte = UInt8(truncatingIfNeeded: number)
            let descriptor = TerminalSignals.pipe.load(ordering: .sequentiallyConsistent)
            // If the pipe is full, it already holds signals to handle.
            if descriptor >= 0 { _ = write(descriptor, &byte, 1) }
            errno = saved
        }
    }
}
