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

        /// As ``Ledger/init(lines:)`` reads it.
        var line: String {
            if isDone { return "\(write) done \(head)" }
            return (["\(write)", file ?? "-"] + rows.map { "\($0.key)=\($0.value)" }).joined(separator: " ")
        }
    }

    private let entries = Mutex<[Entry]>([])
    /// Is given each entry as a line, in order.
    private let tell: (@Sendable (String) -> Void)?

    init(tell: (@Sendable (String) -> Void)? = nil) { self.tell = tell }

    /// - Returns: What ``done(_:head:)`` is given once the write has returned.
    func begin(_ rows: [String: Int], file: String? = nil) -> Int {
        let number = fault_record_count()
        return entries.withLock { entries in
            let write = entries.count
            entries.append(Entry(write: write, isDone: false, number: number, rows: rows, head: 0, file: file))
            tell?(entries[entries.count - 1].line)
            return write
        }
    }

    func done(_ write: Int, head: Int64) {
        let number = fault_record_count()
        entries.withLock { entries in
            let begun = entries[write]
            entries.append(
                Entry(write: write, isDone: true, number: number, rows: begun.rows, head: head, file: begun.file))
            tell?(entries[entries.count - 1].line)
        }
    }

    /// The ledger that the lines of several processes tell, each of which begins with a line `begin`.
    convenience init(lines: [String]) {
        self.init()
        var writes: [Substring: Int] = [:]
        for line in lines {
            let words = line.split(separator: " ")
            guard words.count > 1 else {
                writes = [:]
                continue
            }
            if words[1] == "done", words.count == 3 {
                if let write = writes[words[0]] { done(write, head: Int64(words[2]) ?? 0) }
                continue
            }
            let rows = words.dropFirst(2).map { $0.split(separator: "=") }
            writes[words[0]] = begin(
                Dictionary(uniqueKeysWithValues: rows.map { (String($0[0]), Int($0[1]) ?? 0) }),
                file: words[1] == "-" ? nil : String(words[1]))
        }
    }

    /// What may be there when `number` calls of the disk had returned.
    func expectation(at number: UInt64 = .max) -> Expectation {
        var expectation = Expectation()
        for entry in entries.withLock({ $0 }) where entry.number <= number { expectation.take(entry) }
        return expectation
    }
}
