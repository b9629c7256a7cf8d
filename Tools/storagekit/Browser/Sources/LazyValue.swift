import Foundation

/// A value that is created once and used by one read at a time.
///
/// Isolation: `@unchecked Sendable` is sound because the value is created, used and released with the lock held, and `use` only returns `Sendable`
/// results.
final class LazyValue<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value?

    /// Uses the value, and creates it first if there is none.
    ///
    /// If `body` fails, the value is discarded: it may be incomplete.
    func use<Result: Sendable>(
        making make: () throws -> Value, _ body: (inout Value) throws -> Result
    ) throws -> Result {
        try lock.withLock {
            var value = try self.value ?? make()
            self.value = nil
            let result = try body(&value)
            self.value = value
            return result
        }
    }
}
