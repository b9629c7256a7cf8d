import Dispatch
import Foundation
import Synchronization

/// A shell command of the user. It is in this process's group, so that it may read from the terminal and an interrupt ends it as well, and what it
/// prints goes to standard error.
enum ShellCommand {
    enum End {
        case exit(Int32)
        case signal(Int32)
    }

    /// The processes that are running. One is removed before it is waited for: its id may then belong to another process.
    private static let running = Mutex<Set<pid_t>>([])
    /// Is signalled when a signal begins to end this process.
    private static let ending = DispatchSemaphore(value: 0)
    /// How long a signal to the whole group may take to reach this process's handler after it has ended a command.
    private static let delaySeconds = 1.0
    /// The signals that this process handles. On Darwin it ignores them for that, which the command would inherit.
    private static let handled = Mutex<Set<Int32>>([])

    /// Runs a command to its end.
    static func run(_ text: String, environment: [String: String]) throws(CommandError) -> End {
        let process = try start(text, environment)
        var information = siginfo_t()
        while waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        _ = running.withLock { $0.remove(process) }
        var status: Int32 = 0
        var ended = waitpid(process, &status, 0)
        while ended < 0, errno == EINTR { ended = waitpid(process, &status, 0) }
        // The command may have ended by the same signal: what its caller would write next wouldn't be removed. Programs that handle
        // one end with 128 and its number.
        let number = status & 0x7f == 0 ? (status >> 8 & 0xff) - 128 : status & 0x7f
        if handled.withLock({ $0.contains(number) }) { _ = ending.wait(timeout: .now() + delaySeconds) }
        ProcessEnd.waitIfBegun()
        guard ended == process else {
            throw CommandError(
                .unavailable, "How the command ended isn't known.", why: String(cString: strerror(errno)),
                next: "Run it again.")
        }
        return status & 0x7f == 0 ? .exit(status >> 8 & 0xff) : .signal(status & 0x7f)
    }

    /// Lets commands receive a signal that this process handles.
    static func passOn(_ number: Int32) {
        _ = handled.withLock { $0.insert(number) }
    }

    /// Sends a signal that ends this process to the commands that are running, and lets no other begin. A terminal sends an interrupt
    /// to both.
    static func signalAll(_ number: Int32) {
        ProcessEnd.current.begin()
        running.withLock { running in
            guard number != SIGINT else { return }
            for process in running { kill(process, number) }
        }
        ending.signal()
    }

    private static func start(_ text: String, _ environment: [String: String]) throws(CommandError) -> pid_t {
        var program = SpawnedProgram.shell(text, environment: environment)
        program.descriptors = [(source: 2, target: 1)]
        program.defaultSignals = handled.withLock { $0 }
        let started: pid_t?
        do {
            // A signal that comes in between must find the process among the running ones.
            started = try running.withLock { running throws(SpawnedProgram.Failure) -> pid_t? in
                guard !ProcessEnd.current.hasBegun else { return nil }
                let process = try program.start()
                running.insert(process)
                return process
            }
        } catch {
            throw CommandError(
                .unavailable, "No process can be started for the command.", why: error.reason,
                next: "End other programs, or raise the limit: ulimit -u")
        }
        // Without the lock, which the signal's handler may need.
        guard let started else { ProcessEnd.wait() }
        return started
    }
}
