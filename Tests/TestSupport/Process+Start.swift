package import Foundation

extension Process {
    /// Starts it as a shell does, with no signal blocked: threads that tasks run on block most of them, and a process inherits that.
    package func start() throws {
        var (none, before) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        try run()
    }

    /// Waits until it has ended. Foundation's `waitUntilExit` keeps a processor busy until then, except on a thread whose run loop has something
    /// else to wait for.
    package func waitForEnd() {
        var information = siginfo_t()
        // Foundation is the one that learns with what it ended.
        while waitid(P_PID, id_t(processIdentifier), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        waitUntilExit()
    }

    /// Kills it with SIGKILL, and what it has started, which would else run on and keep its pipes open.
    ///
    /// Foundation learns of the end of a process when a descriptor closes that its children have as well.
    package func killWithChildren() {
        guard isRunning else { return }
        // Foundation makes each process the leader of a group where the system lets it.
        let isLeader = getpgid(processIdentifier) == processIdentifier
        kill(isLeader ? -processIdentifier : processIdentifier, SIGKILL)
    }
}
