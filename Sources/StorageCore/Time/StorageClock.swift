public import Foundation

/// Where commits, `updatedAt` columns and caches take the time from; one of your own makes tests predictable.
///
/// ```swift
/// struct StillClock: StorageClock {
///     var now: Date
/// }
/// let config = StorageConfig(clock: StillClock(now: Date(timeIntervalSince1970: 0)))
/// ```
public protocol StorageClock: Sendable {
    var now: Date { get }
    /// The same in whole microseconds since 1970 UTC, as commits are timed: that of ``now`` unless written otherwise.
    var microseconds: Int64 { get }
    /// Returns once a time has come. Unless written otherwise, it looks at ``now`` again after a minute at most, so that a clock that is
    /// set is noticed.
    ///
    /// - Throws: `CancellationError`.
    func sleep(until time: Date) async throws
}

extension StorageClock {
    // No commit is made at a time that doesn't fit.
    public var microseconds: Int64 { now.microseconds }

    /// - Throws: `CancellationError`.
    public func sleep(until time: Date) async throws {
        while true {
            let seconds = time.timeIntervalSince(now)
            guard seconds > 0 else { return }
            try await Task.sleep(for: .seconds(min(seconds, 60)))
        }
    }
}

/// The system's time. It may be set back; commit times don't follow it there.
public struct SystemClock: StorageClock {
    /// Creates a clock; all of them agree.
    public init() {}
    public var now: Date { Date() }

    public var microseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }
}
