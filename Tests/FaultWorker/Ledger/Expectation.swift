/// What a store holds, as far as it is known: how many rows of each batch, and which copies.
struct Expectation: Sendable {
    /// What is certain, and what may be instead because a write hasn't returned.
    struct Possible<Value: Hashable & Sendable>: Sendable {
        var certain: Value
        var perhaps: Set<Value> = []

        func allows(_ value: Value) -> Bool { value == certain || perhaps.contains(value) }
    }

    private(set) var rows: [String: Possible<Int>] = [:]
    /// Writes that haven't returned, by their number: their rows are there all together or not at all.
    private(set) var open: [Int: [String: Int]] = [:]
    /// The head that the log has reached at least.
    private(set) var head: Int64 = 0
    /// Copies with the head that they hold at least; nil where they needn't be there.
    private(set) var files: [String: Int64?] = [:]
    /// How many writes have returned.
    private(set) var acknowledged = 0

    mutating func take(_ entry: Ledger.Entry) {
        if let file = entry.file {
            if entry.isDone { files[file] = .some(entry.head) } else if files[file] == nil { files[file] = .some(nil) }
            return
        }
        if entry.isDone {
            open[entry.write] = nil
            acknowledged += 1
            head = max(head, entry.head)
            for (batch, count) in entry.rows { rows[batch] = Possible(certain: count) }
        } else {
            open[entry.write] = entry.rows
            for (batch, count) in entry.rows {
                rows[batch, default: Possible(certain: 0)].perhaps.insert(count)
            }
        }
    }
}
