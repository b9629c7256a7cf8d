import Foundation
import Synchronization

/// The program that pages long output to a terminal, as in git.
///
/// It is started by the first output, so that an error alone is printed directly. Then standard output, and standard error if it is a terminal, are a
/// pipe to the pager. The terminal's width and colours still determine the output.
///
/// Isolation: signal handlers only read atomics; the rest belongs to the thread that runs the command.
enum Pager {
    static let environmentKey = "STORAGEKIT_PAGER"

    /// Whether the first output starts the pager.
    private static let isWanted = Atomic<Bool>(false)
    /// The pager's process; 0 if it isn't running.
    private static let process = Atomic<Int32>(0)
    /// A descriptor of the terminal while standard output is a pipe to the pager; -1 otherwise.
    private static let terminal = Atomic<Int32>(-1)

    /// Whether standard error goes to the pager, too.
    private static let takesErrors = Atomic<Bool>(false)
    /// Whether a signal ends this process as soon as the pager has ended.
    private static let isEnding = Atomic<Bool>(false)

    /// Returns the descriptor of the terminal that finally shows a descriptor's output.
    static func device(behind descriptor: Int32) -> Int32 {
        let isPaged = descriptor == 1 || descriptor == 2 && takesErrors.load(ordering: .relaxed)
        return isRunning && isPaged ? terminal.load(ordering: .relaxed) : descriptor
    }

    static var isRunning: Bool { process.load(ordering: .relaxed) > 0 }

    /// Whether signals end the command and then the process.
    private static let endsBySignal = Atomic<Bool>(true)

    /// Makes a command's output to a terminal go through the pager.
    ///
    /// - Parameter endsBySignal: Whether Ctrl-C ends the process once its user has left the pager.
    static func request(endsBySignal: Bool = true) {
        self.endsBySignal.store(endsBySignal, ordering: .relaxed)
        if isatty(1) == 1 { isWanted.store(true, ordering: .relaxed) }
    }

    /// Starts the pager if it was requested and exists. Call it before output.
    static func startIfWanted(environment: [String: String] = ProcessInfo.processInfo.environment) {
        guard isWanted.exchange(false, ordering: .relaxed),
            let command = PagerCommand(environment: environment)
        else { return }
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { return }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        guard let pid = command.start(input: ends[0], environment: environment) else {
            for end in ends { close(end) }
            return
        }
        close(ends[0])
        terminal.store(fcntl(1, F_DUPFD_CLOEXEC, 3), ordering: .relaxed)
        process.store(pid, ordering: .relaxed)
        if isatty(2) == 1 {
            takesErrors.store(true, ordering: .relaxed)
            dup2(ends[1], 2)
        }
        dup2(ends[1], 1)
        close(ends[1])
        // An interrupt ends the output, and the pager keeps what it has until the user closes it.
        guard endsBySignal.load(ordering: .relaxed) else { return }
        for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] { signal(number, Pager.endBySignal) }
    }

    /// Ends the output and waits until the pager's user has read it. Standard output is the terminal again.
    static func finish() {
        isWanted.store(false, ordering: .relaxed)
        // The signal handler is already waiting for the pager, and ends the process.
        while isEnding.load(ordering: .relaxed) { pause() }
        guard isRunning else { return }
        let screen = terminal.load(ordering: .relaxed)
        dup2(screen, 1)
        if takesErrors.exchange(false, ordering: .relaxed) { dup2(screen, 2) }
        wait()
        terminal.store(-1, ordering: .relaxed)
        close(screen)
    }

    private static func wait() {
        let pid = process.exchange(0, ordering: .relaxed)
        guard pid > 0 else { return }
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    }

    /// Makes only async-signal-safe calls. The command, which is still running, finds that its output has no reader; its descriptors stay open, so
    /// that no file can reuse their numbers.
    private static let endBySignal: @convention(c) (Int32) -> Void = { number in
        isEnding.store(true, ordering: .relaxed)
        var ends: (Int32, Int32) = (0, 0)
        let isMade = withUnsafeMutablePointer(to: &ends) {
            $0.withMemoryRebound(to: Int32.self, capacity: 2) { pipe($0) == 0 }
        }
        if isMade {
            close(ends.0)
            dup2(ends.1, 1)
            if takesErrors.load(ordering: .relaxed) { dup2(ends.1, 2) }
            close(ends.1)
        }
        wait()
        signal(number, SIG_DFL)
        raise(number)
        // A raised signal may be blocked in this thread and reach another.
        kill(getpid(), number)
    }
}
