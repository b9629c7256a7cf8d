internal import Synchronization

/// A registered observer of a store. It ends when it is cancelled or released.
///
/// ```swift
/// let observation = storage.observeReads(longerThan: .seconds(1)) { print($0) }
/// observation.cancel()
/// ```
///
/// Isolation: `Sendable`; it can be cancelled from any thread, also more than once.
public final class StorageObservation: Sendable {
    private let onCancel: Mutex<(@Sendable () -> Void)?>

    package init(onCancel: @escaping @Sendable () -> Void) { self.onCancel = Mutex(onCancel) }

    deinit { cancel() }

    /// Ends the observation. A call of the observer that is in progress is completed.
    public func cancel() {
        let onCancel = onCancel.withLock { onCancel in
            defer { onCancel = nil }
            return onCancel
        }
        onCancel?()
    }
}
