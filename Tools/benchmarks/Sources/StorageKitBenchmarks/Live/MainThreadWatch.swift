import Dispatch
import Foundation
import Synchronization

/// Measures how long the main thread is kept busy, by looks that are put into its queue every half millisecond.
///
/// The CPU that the main thread has used from one look to the next is at least that of each job between them: an upper limit
/// that other work on the machine doesn't raise. How long a look waits is at least what a job that blocks takes, but on a
/// busy machine also what the scheduler takes.
///
/// Isolation: `Sendable`; it can be started and stopped on any thread.
final class MainThreadWatch: Sendable {
    static let cpuMetric = "main thread: longest stay, CPU ms"
    static let waitMetric = "main thread: longest wait of a look, ms"

    private struct State {
        var isRunning = true
        var thread: UInt64 = 0
        var cpuMilliseconds = 0.0
        var longestCPU = 0.0
        var longestWait = 0.0
    }

    private let state = Mutex(State())
    private static let pauseMicroseconds: useconds_t = 500

    /// Returns behind a first look, so that what follows is looked at from its beginning.
    init() async {
        await look()
        // A thread of its own: tasks and queues wait for those of the store.
        Thread.detachNewThread { [weak self] in
            while let watch = self, watch.state.withLock({ $0.isRunning }) {
                let asked = ContinuousClock.now
                DispatchQueue.main.async { watch.look(asked) }
                usleep(Self.pauseMicroseconds)
            }
        }
    }

    private func look(_ asked: ContinuousClock.Instant) {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        let cpu = Double(time.tv_sec) * 1_000 + Double(time.tv_nsec) / 1_000_000
        let thread = Self.thread
        let wait = (ContinuousClock.now - asked) / .milliseconds(1)
        state.withLock { state in
            if state.thread == thread { state.longestCPU = max(state.longestCPU, cpu - state.cpuMilliseconds) }
            (state.thread, state.cpuMilliseconds) = (thread, cpu)
            state.longestWait = max(state.longestWait, wait)
        }
    }

    private func look() async {
        await withCheckedContinuation { done in
            let asked = ContinuousClock.now
            DispatchQueue.main.async {
                self.look(asked)
                done.resume()
            }
        }
    }

    /// The main queue may be served by another thread later; CPU of different threads can't be compared.
    private static var thread: UInt64 { UInt64(UInt(bitPattern: pthread_self().hashValue)) }

    /// Waits for the looks that are in the queue, and ends.
    func stop() async -> [Metric] {
        state.withLock { $0.isRunning = false }
        await look()
        return state.withLock { state in
            [
                Metric(name: Self.cpuMetric, value: state.longestCPU),
                Metric(name: Self.waitMetric, value: state.longestWait),
            ]
        }
    }
}
