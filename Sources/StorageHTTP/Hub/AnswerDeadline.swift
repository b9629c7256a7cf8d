#if STORAGE_HTTP
    internal import StorageCore
    internal import Synchronization

    /// When a request is given up that makes no progress.
    ///
    /// Isolation: `Sendable`, its state behind a mutex.
    final class AnswerDeadline: Sendable {
        private let time: Mutex<ContinuousClock.Instant>

        init(after duration: Duration) { time = Mutex(ContinuousClock.now + duration.limited) }

        /// Something was received: the next part may take this long.
        func postpone(by duration: Duration) { time.withLock { $0 = ContinuousClock.now + duration.limited } }

        /// Returns once the deadline has passed.
        ///
        /// - Throws: `CancellationError`.
        func pass() async throws {
            while true {
                let end = time.withLock { $0 }
                guard ContinuousClock.now < end else { return }
                try await Task.sleep(until: end, clock: .continuous)
            }
        }
    }
#endif
