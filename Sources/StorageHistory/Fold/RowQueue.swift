internal import StorageLog

/// The next record of each run, that with the least key first; of records with the same key, that of the earliest run.
///
/// It is a binary heap.
struct RowQueue {
    private struct Entry {
        let run: Int
        let record: RowRecord
        let prefix: KeyOrder.Prefix

        init(run: Int, record: RowRecord) {
            self.run = run
            self.record = record
            prefix = KeyOrder.Prefix(record.values[0], in: record.bytes)
        }
    }

    private let keyCount: Int
    private var entries: [Entry] = []

    init(keyCount: Int) { self.keyCount = keyCount }

    var isEmpty: Bool { entries.isEmpty }

    mutating func insert(_ run: Int, _ record: RowRecord) {
        entries.append(Entry(run: run, record: record))
        var index = entries.count - 1
        while index > 0, isBefore(entries[index], entries[(index - 1) / 2]) {
            entries.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    /// Removes the records with the least key and replaces the arrays by them and their runs, the earliest first.
    mutating func removeFirst(into group: inout [RowRecord], _ runs: inout [Int]) {
        group.removeAll(keepingCapacity: true)
        runs.removeAll(keepingCapacity: true)
        repeat {
            let first = removeFirst()
            group.append(first.record)
            runs.append(first.run)
        } while !isEmpty && order(entries[0].record, group[0]) == 0
    }

    private mutating func removeFirst() -> Entry {
        let first = entries[0]
        let last = entries.removeLast()
        guard !entries.isEmpty else { return first }
        var index = 0
        while true {
            var child = 2 * index + 1
            guard child < entries.count else { break }
            if child + 1 < entries.count, isBefore(entries[child + 1], entries[child]) { child += 1 }
            guard isBefore(entries[child], last) else { break }
            entries[index] = entries[child]
            index = child
        }
        entries[index] = last
        return first
    }

    @inline(__always)
    private func isBefore(_ one: Entry, _ other: Entry) -> Bool {
        let isText = one.record.values[0].hasBytes
        if isText == other.record.values[0].hasBytes, one.prefix != other.prefix { return one.prefix < other.prefix }
        let order = order(one.record, other.record)
        return order != 0 ? order < 0 : one.run < other.run
    }

    @inline(__always)
    private func order(_ one: RowRecord, _ other: RowRecord) -> Int {
        KeyOrder.order(one.values, in: one.bytes, other.values, in: other.bytes, keyCount: keyCount)
    }
}
