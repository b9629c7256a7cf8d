internal import Synchronization

/// The columns whose values those who follow commits want of every updated row, also where the update left them alone.
///
/// Isolation: `Sendable`, its state behind a mutex. The writer looks where a transaction begins: one number while nothing has
/// changed.
package final class RequestedColumns: Sendable {
    private let columns = Mutex<[ObjectIdentifier: [UInt32]]>([:])
    private let version = Atomic(0)

    /// Asks for columns, by their ids, instead of those that `requester` has asked for before; transactions that have begun may
    /// not tell them yet.
    package func request(_ ids: [UInt32], for requester: AnyObject) {
        columns.withLock { $0[ObjectIdentifier(requester)] = ids.isEmpty ? nil : ids }
        version.add(1, ordering: .releasing)
    }

    /// The columns that anybody asks for, in rising order; nil where nothing is new since `known`.
    func all(since known: inout Int) -> [UInt32]? {
        let current = version.load(ordering: .acquiring)
        guard current != known else { return nil }
        known = current
        return columns.withLock { Set($0.values.joined()).sorted() }
    }
}
