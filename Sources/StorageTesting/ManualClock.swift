public import StorageCore
internal import Synchronization

/// A clock that moves only when it is told to: commit times in tests are the same in every run.
///
/// Isolation: `Sendable`; the time is guarded by a lock.
public final class ManualClock: CommitClock {
    private let time: Mutex<Int64>

    /// - Parameter microseconds: Microseconds since 1970 UTC; 2024-01-01 if nothing else is said.
    public init(microseconds: Int64 = 1_704_067_200_000_000) { time = Mutex(microseconds) }

    public var microseconds: Int64 { time.withLock { $0 } }

    /// Moves the clock; back as well, to see that commit times don't follow it there.
    public func advance(seconds: Double) { time.withLock { $0 += Int64(seconds * 1_000_000) } }
}
