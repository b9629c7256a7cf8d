public import Foundation

/// The source of the time for commits, `updatedAt` columns and caches. In tests, use a clock of your own for predictable times.
///
/// ```swift
/// struct StillClock: StorageClock {
///     var now: Date
/// }
/// let config = StorageConfig(clock: StillClock(now: Date(timeIntervalSince1970: 0)))
/// ```
public protocol StorageClock: Sendable {
    var now: Date { get }
    /// The time in whole microseconds since 1970 UTC, as used for commits; derived from ``now`` by default.
    var microseconds: Int64 { get }
    /// Waits until a time. By default, it reads ``now`` at least once a minute, so that it notices when the clock is set.
    ///
    /// - Throws: `CancellationError`.
    func sleep(until time: Date) async throws
}

extension StorageClock {
    // A time out of range is refused when a commit is made.
    public var microseconds: Int64 { now.microseconds }

    /// Waits until a time, and reads ``now`` at least once a minute meanwhile.
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

/// The system's clock. It may be set back, but commit times never decrease.
public struct SystemClock: StorageClock {
    /// Creates a clock; all instances are equivalent.
    public init() {}
    public var now: Date { Date() }

    public var microseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }
}
