public import Foundation
public import StorageCore
internal import Synchronization

/// A clock that moves only when a test moves it.
///
/// Commit times are the same in every run, and a wait ends when the clock is moved to its time.
///
/// Isolation: `Sendable`; the time is guarded by a lock.
public final class ManualClock: StorageClock {
    private struct State {
        var microseconds: Int64
        var nextId = 0
        var sleepers: [Int: (until: Date, continuation: CheckedContinuation<Void, any Error>)] = [:]
    }

    private let state: Mutex<State>

    /// Creates a clock that stays at one time until it is moved.
    ///
    /// - Parameter microseconds: The time, in microseconds since 1970 UTC; 2024-01-01 by default.
    public init(microseconds: Int64 = 1_704_067_200_000_000) { state = Mutex(State(microseconds: microseconds)) }

    /// The time, in microseconds since 1970 UTC.
    public var microseconds: Int64 { state.withLock { $0.microseconds } }
    /// The time.
    public var now: Date { Date(microseconds: microseconds) }

    /// The number of tasks that wait for a time.
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// Moves the clock, forward or, by a negative duration, back; commit times don't go back with it.
    public func advance(by duration: Duration) {
        let microseconds = Int64((duration / .seconds(1) * 1_000_000).rounded())
        let woken = state.withLock { state in
            state.microseconds += microseconds
            let now = Date(microseconds: state.microseconds)
            let due = state.sleepers.filter { $0.value.until <= now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in woken { continuation.resume() }
    }

    /// Waits until the clock is moved to a time or beyond it.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    public func sleep(until time: Date) async throws {
        let id = state.withLock { state in
            state.nextId += 1
            return state.nextId
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let outcome: Result<Void, any Error>? = state.withLock { state in
                    if Task.isCancelled { return .failure(CancellationError()) }
                    if time <= Date(microseconds: state.microseconds) { return .success(()) }
                    state.sleepers[id] = (time, continuation)
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            let sleeper = state.withLock { $0.sleepers.removeValue(forKey: id) }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }
}
