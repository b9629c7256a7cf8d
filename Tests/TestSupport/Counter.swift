import Synchronization

/// A number that several tasks and threads count.
package final class Counter: Sendable {
    private let count = Mutex(0)

    package init() {}

    package var value: Int { count.withLock { $0 } }

    /// - Returns: The new value.
    @discardableResult
    package func add() -> Int {
        count.withLock {
            $0 += 1
            return $0
        }
    }

    package func subtract() { count.withLock { $0 -= 1 } }
}
