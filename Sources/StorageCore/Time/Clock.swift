public import Foundation

/// Where caches and `updatedAt` columns take the time from; one of your own makes tests predictable.
public protocol Clock: Sendable {
    var now: Date { get }
}

/// The system's time.
public struct SystemClock: Clock {
    public init() {}
    public var now: Date { Date() }
}

/// A clock as the log reads it, in microseconds.
package struct ClockReading: CommitClock {
    let clock: any Clock
    package init(_ clock: any Clock) { self.clock = clock }
    package var microseconds: Int64 {
        let time = (clock.now.timeIntervalSince1970 * 1_000_000).rounded(.down)
        // No commit is made at a time that doesn't fit.
        return Int64(exactly: time) ?? (time > 0 ? .max : .min)
    }
}
