internal import Foundation

/// The time of commits, in microseconds since 1970 UTC.
public protocol CommitClock: Sendable {
    /// The current time in microseconds since 1970 UTC.
    var microseconds: Int64 { get }
}

/// The system's clock. It may be set back; commit times don't follow it there.
public struct SystemCommitClock: CommitClock {
    /// Creates the clock.
    public init() {}

    /// The current time in microseconds since 1970 UTC.
    public var microseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }
}
