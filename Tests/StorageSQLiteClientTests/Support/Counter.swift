import Synchronization

/// A number that several threads count.
final class Counter: Sendable {
    private let count = Mutex(0)

    var value: Int { count.withLock { $0 } }

    @discardableResult
    func add() -> Int {
        count.withLock {
            $0 += 1
            return $0
        }
    }

    func subtract() { count.withLock { $0 -= 1 } }
}
