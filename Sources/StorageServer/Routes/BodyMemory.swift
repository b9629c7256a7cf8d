#if STORAGE_SERVER
    internal import Synchronization

    /// The number of body bytes that are being received or sent in this process.
    ///
    /// Isolation: `Sendable`, its state behind a mutex.
    final class BodyMemory: Sendable {
        private let limit: Int
        private let count = Mutex(0)

        init(limit: Int) { self.limit = limit }

        var total: Int { count.withLock { $0 } }

        private func take(_ bytes: Int) -> Bool {
            count.withLock { count in
                guard count + bytes <= limit else { return false }
                count += bytes
                return true
            }
        }

        /// A request's share, until it is ended.
        final class Share: Sendable {
            private let memory: BodyMemory
            private let taken = Mutex(0)

            init(of memory: BodyMemory) { self.memory = memory }

            /// The number of bytes that were received so far.
            var bytes: Int { taken.withLock { $0 } }

            /// - Returns: Whether there is room for more bytes.
            func take(_ bytes: Int) -> Bool {
                guard memory.take(bytes) else { return false }
                taken.withLock { $0 += bytes }
                return true
            }

            func end() {
                let bytes = taken.withLock { taken in
                    defer { taken = 0 }
                    return taken
                }
                memory.count.withLock { $0 -= bytes }
            }
        }
    }
#endif
