#if STORAGE_SERVER
    internal import Synchronization

    /// Limits the requests of each token with a token bucket.
    ///
    /// Isolation: `Sendable`, its state behind a mutex.
    final class RateLimiter: Sendable {
        private struct Bucket {
            var level: Double
            var time: ContinuousClock.Instant
        }

        private let perSecond: Double
        private let burst: Double
        private let buckets = Mutex<[String: Bucket]>([:])

        init(perSecond: Double, burst: Double) {
            self.perSecond = max(perSecond, 0.001)
            self.burst = max(burst, 1)
        }

        /// Takes one request from a token's bucket.
        ///
        /// - Returns: nil if there was one, otherwise the seconds until there is one.
        func take(_ token: String, now: ContinuousClock.Instant = .now) -> Int? {
            buckets.withLock { buckets in
                // Full buckets are dropped. There are no more of them than tokens.
                var bucket = buckets[token] ?? Bucket(level: burst, time: now)
                bucket.level = min(burst, bucket.level + (now - bucket.time) / .seconds(1) * perSecond)
                bucket.time = now
                defer { buckets[token] = bucket }
                guard bucket.level >= 1 else { return max(1, Int(((1 - bucket.level) / perSecond).rounded(.up))) }
                bucket.level -= 1
                return nil
            }
        }
    }
#endif
