internal import StorageLog
internal import Synchronization

/// The pending changes of a store, which are shown before they are stored, in the order in which they began.
///
/// Isolation: `Sendable`, its state behind a mutex; observers are called on the thread that begins or ends a change.
package final class OptimisticChangeRegistry: Sendable {
    /// Rows that appear and disappear together.
    struct Change: Sendable {
        let id: Int
        let rows: [OptimisticRow]
    }

    private struct State {
        var nextId = 0
        var changes: [Change] = []
        var observers: [Int: @Sendable () -> Void] = [:]

        mutating func makeId() -> Int {
            defer { nextId += 1 }
            return nextId
        }
    }

    private let state = Mutex(State())

    package init() {}

    /// Shows rows until the change is ended.
    ///
    /// - Returns: The change's id.
    package func begin(_ rows: [OptimisticRow]) -> Int {
        let (id, observers) = state.withLock { state in
            let id = state.makeId()
            state.changes.append(Change(id: id, rows: rows))
            return (id, Array(state.observers.values))
        }
        for observer in observers { observer() }
        return id
    }

    /// Shows the rows of a change no more: they are stored, or never will be.
    package func end(_ id: Int) {
        let observers = state.withLock { state in
            state.changes.removeAll { $0.id == id }
            return Array(state.observers.values)
        }
        for observer in observers { observer() }
    }

    /// The changes of rows in these tables; of all if nil.
    func changes(of tables: Set<String>?) -> [Change] {
        state.withLock { state in
            guard let tables, !state.changes.isEmpty else { return state.changes }
            return state.changes.filter { $0.rows.contains { tables.contains($0.name.table) } }
        }
    }

    /// Calls `observer` whenever a change begins or ends, until the observation is released.
    func observe(_ observer: @escaping @Sendable () -> Void) -> StorageObservation {
        let id = state.withLock { state in
            let id = state.makeId()
            state.observers[id] = observer
            return id
        }
        return StorageObservation { [weak self] in
            _ = self?.state.withLock { $0.observers.removeValue(forKey: id) }
        }
    }
}
