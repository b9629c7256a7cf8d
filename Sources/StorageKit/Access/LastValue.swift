internal import Synchronization

/// Remembers a value, to tell whether the next one is another.
final class LastValue<Value: Equatable & Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)

    /// - Returns: Whether it is another value than before.
    func change(to new: Value) -> Bool {
        value.withLock { value in
            guard value != new else { return false }
            value = new
            return true
        }
    }
}
