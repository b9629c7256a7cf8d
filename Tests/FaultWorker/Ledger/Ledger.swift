import FaultSupport
import Synchronization

/// What was asked of a store, and what the store has said is done: the oracle that a store which is opened after a fault is
/// held to.
///
/// Each write names how many rows of which batch there are after it. Until the write returns the rows may be there or not,
/// but all of a write's rows together; once it has returned they must.
///
/// Isolation: `Sendable`, its state behind a mutex.
final class Ledger: Sendable {
    struct Entry {
        /// Tells a write's end from its beginning, and writes from each other.
        let write: Int
        let isDone: Bool
        /// How many calls of the disk had returned by then.
        let number: UInt64
        let rows: [String: Int]
        /// The head of the log, or of a copy, where it is done.
        let head: Int64
        /// The copy that it makes.
        let file: String?
    }

    private let entries = Mutex<[Entry]>([])

    /// - Returns: What ``done(_:head:)`` is given once the write has returned.
    func begin(_ rows: [String: Int], file: String? = nil) -> Int {
        let number = fault_record_count()
        return entries.withLock { entries in
            entries.append(
                Entry(write: entries.count, isDone: false, number: number, rows: rows, head: 0, file: file))
            return entries.count - 1
        }
    }

    func done(_ write: Int, head: Int64) {
        let number = fault_record_count()
        entries.withLock { entries in
            let begun = entries[write]
            entries.append(
                Entry(write: write, isDone: true, number: number, rows: begun.rows, head: head, file: begun.file))
        }
    }

    /// What may be there when `number` calls of the disk had returned.
    func expectation(at number: UInt64 = .max) -> Expectation {
        var expectation = Expectation()
        for entry in entries.withLock({ $0 }) where entry.number <= number { expectation.take(entry) }
        return expectation
    }
}
