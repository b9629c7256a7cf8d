public import Foundation

/// Where caches and `updatedAt` columns take the time from; one of your own makes tests predictable.
public protocol Clock: Sendable {
    /// The current time.
    var now: Date { get }
    /// Returns when a time is reached. By default it checks ``now`` again after a minute at most, so that a clock that
    /// is set is noticed.
    ///
    /// - Throws: `CancellationError`.
    func sleep(until time: Date) async throws
}

extension Clock {
    /// Returns once a time has come, checking ``now`` at least once a minute.
    ///
    /// - Throws: `CancellationError`.
    public func sleep(until time: Date) async throws {
        while true {
            let seconds = time.timeIntervalSince(now)
            guard seconds > 0 else { return }
            try await Task.sleep(for: .seconds(min(seconds, 60)))
        }
    }
}

/// The system's time.
public struct SystemClock: Clock {
    /// Creates the clock.
    public init() {}
    /// The current time.
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
