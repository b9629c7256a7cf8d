internal import StorageViews
internal import Synchronization

/// Remembers the last value, to detect whether the next one differs.
final class LastValue<Value: Equatable & Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)

    /// - Returns: Whether the value differs from the last one, be it in the Unicode form of a text.
    func change(to new: Value) -> Bool {
        value.withLock { value in
            if let value, new.isSame(as: value) { return false }
            value = new
            return true
        }
    }
}
