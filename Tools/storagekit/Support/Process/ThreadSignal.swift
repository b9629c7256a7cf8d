import Foundation

enum ThreadSignal {
    /// Sends a signal to this thread, so that it has taken effect when the call returns.
    static func send(_ number: Int32) {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, number)
        // Threads of the cooperative pool block signals, and threads created there inherit that.
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        raise(number)
    }
}
