/// How long to wait before trying again, longer after each failure: from a tenth of a second to half a minute.
package struct RetryDelay: Sendable {
    private var failures = 0

    package init() {}

    package var hasFailed: Bool { failures > 0 }

    /// The seconds to wait after one more failure.
    package mutating func next() -> Double {
        failures += 1
        return min(30, 0.1 * Double(1 << min(failures - 1, 16)))
    }
}

extension RetryDelay {
    /// The seconds to wait before a remote is asked again: a random part of a second that doubles with each failure, up to five
    /// minutes, so that many clients that failed together don't come back together.
    ///
    /// Source: Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015 ("full jitter").
    package static func fullJitter(after failures: Int) -> Double {
        Double.random(in: 0...min(300, Double(1 << min(max(failures, 1) - 1, 16))))
    }
}

extension RetryDelay {
    /// How long to wait before a remote is written to again: a random part of 2, 4, 8, 16, 32, and then 60 seconds.
    package static func ofRemoteMicroseconds(
        after failures: Int, using generator: inout some RandomNumberGenerator
    ) -> Int64 {
        let ceiling: Int64 = min(60_000_000, 2_000_000 << min(max(failures, 1) - 1, 5))
        return .random(in: 0...ceiling, using: &generator)
    }
}
