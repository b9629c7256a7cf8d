#if STORAGE_SERVER
    internal import Synchronization

    /// Counts the streams and waiting pulls of each token.
    ///
    /// Isolation: `Sendable`, its state behind a mutex.
    final class StreamCounter: Sendable {
        private let limit: Int
        private let counts = Mutex<[String: Int]>([:])

        init(limit: Int) { self.limit = limit }

        var total: Int { counts.withLock { $0.values.reduce(0, +) } }

        /// - Returns: A slot for one more; nil if the limit is reached.
        func begin(_ token: String) -> Slot? {
            counts.withLock { counts in
                guard counts[token, default: 0] < limit else { return nil }
                counts[token, default: 0] += 1
                return Slot(self, token)
            }
        }

        private func end(_ token: String) {
            counts.withLock { counts in
                let count = counts[token, default: 0] - 1
                counts[token] = count > 0 ? count : nil
            }
        }

        /// The slot of a stream among those of its token. It is released when the stream is ended, at the latest with
        /// the last reference: an answer whose body is never started ends nothing by itself.
        final class Slot: Sendable {
            private let counter: StreamCounter
            private let token: String
            private let hasEnded = Mutex(false)

            fileprivate init(_ counter: StreamCounter, _ token: String) {
                self.counter = counter
                self.token = token
            }

            func end() {
                let isFirst = hasEnded.withLock { hasEnded in
                    defer { hasEnded = true }
                    return !hasEnded
                }
                if isFirst { counter.end(token) }
            }

            deinit { end() }
        }
    }
#endif
