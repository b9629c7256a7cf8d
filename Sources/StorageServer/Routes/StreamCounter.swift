#if STORAGE_SERVER
    internal import Synchronization

    /// How many streams and waiting pulls each token has.
    ///
    /// Isolation: `Sendable`, its state behind a mutex.
    final class StreamCounter: Sendable {
        private let limit: Int
        private let counts = Mutex<[String: Int]>([:])

        init(limit: Int) { self.limit = limit }

        var total: Int { counts.withLock { $0.values.reduce(0, +) } }

        /// - Returns: Whether there may be one more; who begins it ends it.
        func begin(_ token: String) -> Bool {
            counts.withLock { counts in
                guard counts[token, default: 0] < limit else { return false }
                counts[token, default: 0] += 1
                return true
            }
        }

        func end(_ token: String) {
            counts.withLock { counts in
                let count = counts[token, default: 0] - 1
                counts[token] = count > 0 ? count : nil
            }
        }
    }
#endif
