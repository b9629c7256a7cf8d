import StorageKit
import Synchronization

/// The updates of watched rows, for a reader that may be slower than the commits.
///
/// Whatever is pending is one update, which has no more steps than there are rows: so many commits need no more memory than the
/// rows do.
///
/// Isolation: `Sendable`, its state behind a mutex; one task reads.
final class WatchedUpdates: Sendable {
    typealias Update = ListUpdate<[StorageValue]>

    private struct State {
        /// The rows after the last update, which replace too many pending steps.
        var rows: [[StorageValue]] = []
        var failure: (any Error)?
    }

    private let pending = PendingUpdate<Update>()
    private let state = Mutex(State())

    func put(_ update: Update) {
        state.withLock { state in
            update.apply(to: &state.rows)
            // The whole would hide an error.
            let limit = update.error == nil ? Update.stepLimit(rowCount: state.rows.count) : Int.max
            pending.put(update, limit: limit) {
                var whole = update
                (whole.whole, whole.changes) = (state.rows, [])
                return whole
            }
        }
    }

    /// Nothing comes behind this.
    ///
    /// - Parameter failure: Why; nil if that is no failure.
    func end(throwing failure: (any Error)? = nil) {
        state.withLock { $0.failure = $0.failure ?? failure }
        pending.end()
    }

    /// Waits for the next update; nil after the end.
    func next() async throws -> Update? {
        if let update = await pending.next() { return update }
        if let failure = state.withLock({ $0.failure }) { throw failure }
        return nil
    }
}
