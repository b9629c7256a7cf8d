internal import Synchronization

/// The columns whose values observers of commits want of every updated row, even if the update left them unchanged.
///
/// Isolation: `Sendable`, its state behind a mutex. The writer checks it when a transaction begins, by one number if nothing has
/// changed.
package final class RequestedColumns: Sendable {
    private let columns = Mutex<[ObjectIdentifier: [UInt32]]>([:])
    private let version = Atomic(0)

    /// Requests columns, by their ids, replacing the requester's earlier ones; transactions that have begun may not have their
    /// values yet.
    package func request(_ ids: [UInt32], for requester: AnyObject) {
        columns.withLock { $0[ObjectIdentifier(requester)] = ids.isEmpty ? nil : ids }
        version.add(1, ordering: .releasing)
    }

    /// All requested columns, in rising order; nil if there is no change since `known`.
    func all(since known: inout Int) -> [UInt32]? {
        let current = version.load(ordering: .acquiring)
        guard current != known else { return nil }
        known = current
        return columns.withLock { Set($0.values.joined()).sorted() }
    }
}
