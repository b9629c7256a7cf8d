/// The delay before the next attempt, longer after each failure: from a tenth of a second to half a minute.
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
