import Foundation
import Synchronization

/// Signals of a process that has a terminal for itself. They are written to a pipe, so that they are handled between two frames
/// and not in the middle of one.
///
/// Isolation: the handlers run on any thread, at any time; all that they touch are atomics and calls that POSIX allows in
/// handlers.
enum TerminalSignals {
    /// What ends the program, in its order: a closed terminal, and what asks it to end.
    static let ending = [SIGHUP, SIGTERM, SIGINT, SIGQUIT]
    private static let others = [SIGWINCH, SIGCONT, SIGTSTP]
    private static let crashes = [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV]

    /// The end of the pipe that handlers write to; negative where none is wanted.
    private static let pipe = Atomic<Int32>(-1)

    /// From now each of the signals writes its number, as a byte, to a descriptor.
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
        send(SIGTSTP)
        writeToPipe(SIGTSTP)
    }

    /// Sends a signal to this thread, so that it has had its effect when the call returns.
    static func send(_ number: Int32) {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, number)
        // Threads that tasks run on block signals, and those made there do, too.
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        raise(number)
    }

    private static func writeToPipe(_ number: Int32) {
        signal(number) { number in
            let saved = errno
            var byte = UInt8(truncatingIfNeeded: number)
            let descriptor = TerminalSignals.pipe.load(ordering: .sequentiallyConsistent)
            // A full pipe holds enough signals to be looked at.
            if descriptor >= 0 { _ = write(descriptor, &byte, 1) }
            errno = saved
        }
    }
}
