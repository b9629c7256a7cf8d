import Foundation
import Synchronization

/// A child process whose output, errors and reports are read through pipes. Its standard input is empty.
///
/// `Sendable`: mutable state is behind a lock. One thread reads and waits; any may kill.
final class ChildProcess: Sendable {
    /// The child's descriptor for reports, in addition to its output and errors.
    static let reportDescriptor: Int32 = 3

    /// The ends to read from. They are closed when this object is released.
    let output: Int32
    let errors: Int32
    let reports: Int32
    private let identifier: pid_t
    /// Whether the process was waited for: its id may then belong to another process.
    private let isGone = Mutex(false)

    /// A child that is started before a pipe is marked close-on-exec inherits it, so only one is started at a time.
    private static let starting = Mutex(())

    /// - Parameter program: The path of an executable.
    init(_ program: String, _ arguments: [String], environment: [String: String]) throws(CommandError) {
        let started = Self.starting.withLock { _ in
            Self.start(program, arguments, environment: environment)
        }
        switch started {
        case .success(let parts): (identifier, output, errors, reports) = parts
        case .failure(let error):
            throw CommandError(
                .unavailable, "No process can be started for the command.", why: error.reason,
                next: "End other programs, or raise the limit: ulimit -n, ulimit -u")
        }
    }

    deinit { for descriptor in [output, errors, reports] { close(descriptor) } }

    /// Kills the process at once. It may have ended already.
    func kill() {
        isGone.withLock { isGone in if !isGone { _ = Foundation.kill(identifier, SIGKILL) } }
    }

    /// Waits until the process ends.
    ///
    /// - Returns: Its exit status; nil if a signal ended it, or if the status isn't known.
    func wait() -> Int32? {
        var information = siginfo_t()
        // The process remains a zombie until the lock is held, so that no other process with its id is killed.
        while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        return isGone.withLock { isGone in
            isGone = true
            var status: Int32 = 0
            while waitpid(identifier, &status, 0) < 0 { guard errno == EINTR else { return nil } }
            return status & 0x7f == 0 ? status >> 8 & 0xff : nil
        }
    }

    // MARK: Starting

    private static func start(
        _ program: String, _ arguments: [String], environment: [String: String]
    ) -> Result<(pid_t, Int32, Int32, Int32), SpawnedProgram.Failure> {
        var pipes: [(read: Int32, write: Int32)] = []
        func fail(_ code: Int32) -> Result<(pid_t, Int32, Int32, Int32), SpawnedProgram.Failure> {
            for pipe in pipes { close(pipe.read); close(pipe.write) }
            return .failure(SpawnedProgram.Failure(code: code))
        }
        for _ in 0..<3 {
            var ends: [Int32] = [0, 0]
            guard pipe(&ends) == 0 else { return fail(errno) }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            pipes.append((ends[0], ends[1]))
        }
        var child = SpawnedProgram(path: program, arguments: arguments, environment: environment, hasEmptyInput: true)
        // The server of agents ignores them, which the child would inherit.
        child.defaultSignals = [SIGTERM, SIGINT, SIGHUP]
        // In this order, no pipe's end is overwritten before it is duplicated.
        child.descriptors = pipes.enumerated().map { (source: $1.write, target: Int32($0 + 1)) }
        do {
            let identifier = try child.start()
            for pipe in pipes { close(pipe.write) }
            return .success((identifier, pipes[0].read, pipes[1].read, pipes[2].read))
        } catch {
            return fail(error.code)
        }
    }
}
