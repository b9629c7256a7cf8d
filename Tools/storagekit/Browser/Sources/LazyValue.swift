import Foundation

/// A value that is made once and used by one read at a time.
///
/// Isolation: `@unchecked Sendable` is sound because the value is made, used and given up with the lock held, and `use` lets no
/// part of it out but what is `Sendable`.
final class LazyValue<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value?

    /// Uses the value; makes it first where there is none.
    ///
    /// Where `body` fails, the value isn't used again: it may be half of what it was meant to be.
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
