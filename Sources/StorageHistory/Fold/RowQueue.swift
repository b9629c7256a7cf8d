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

    /// Replaces the arrays by the records with the least key and their runs, the earliest first, and removes all of them but the first:
    /// ``replaceFirst(with:)`` does that. The next record of the same run often has the least key again, and then nothing moves.
    mutating func takeFirst(into group: inout [RowRecord], _ runs: inout [Int]) {
        group.removeAll(keepingCapacity: true)
        runs.removeAll(keepingCapacity: true)
        group.append(entries[0].record)
        runs.append(entries[0].run)
        while let next = lesserChild(of: 0), order(entries[next].record, group[0]) == 0 {
            group.append(entries[next].record)
            runs.append(entries[next].run)
            remove(at: next)
        }
    }

    /// - Parameter record: The next one of the first record's run; nil if there is none.
    mutating func replaceFirst(with record: RowRecord?) {
        guard let record else { return remove(at: 0) }
        sink(Entry(run: entries[0].run, record: record), from: 0)
    }

    private mutating func remove(at index: Int) {
        let last = entries.removeLast()
        if index < entries.count { sink(last, from: index) }
    }

    /// Puts an entry where another one was that isn't greater.
    private mutating func sink(_ entry: Entry, from start: Int) {
        var index = start
        while let child = lesserChild(of: index), isBefore(entries[child], entry) {
            entries[index] = entries[child]
            index = child
        }
        entries[index] = entry
    }

    @inline(__always)
    private func lesserChild(of index: Int) -> Int? {
        let child = 2 * index + 1
        guard child < entries.count else { return nil }
        return child + 1 < entries.count && isBefore(entries[child + 1], entries[child]) ? child + 1 : child
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
