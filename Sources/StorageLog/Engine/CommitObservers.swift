internal import Synchronization

/// The rows that one transaction changed, told once it is durable.
package struct CommittedChanges: Sendable {
    /// The last position of the transaction.
    package let position: Int64
    /// The changed rows' keys in their canonical form, by entity.
    package let keys: [UInt32: Set<[UInt8]>]
    /// The entities' names.
    package let names: [UInt32: String]
}

/// Who wants to know of commits. Costs a writer one look at a number while nobody does.
///
/// Isolation: `Sendable`, its state behind a mutex; observers are called on the writer's queue and must be quick.
package final class CommitObservers: Sendable {
    private let observers = Mutex<[Int: @Sendable (CommittedChanges) -> Void]>([:])
    private let count = Atomic(0)
    private let next = Atomic(0)

    package init() {}

    package var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

    /// Calls `observer` after every transaction until the token is given back.
    package func add(_ observer: @escaping @Sendable (CommittedChanges) -> Void) -> Int {
        let token = next.add(1, ordering: .relaxed).newValue
        observers.withLock { $0[token] = observer }
        count.add(1, ordering: .releasing)
        return token
    }

    package func remove(_ token: Int) {
        if observers.withLock({ $0.removeValue(forKey: token) }) != nil { count.subtract(1, ordering: .releasing) }
    }

    func tell(_ changes: CommittedChanges) {
        for observer in observers.withLock({ Array($0.values) }) { observer(changes) }
    }
}
