internal import CSQLite
internal import StorageCore
internal import StorageLog
internal import StorageRouting

/// The least or the greatest of the values that aren't NULL, in SQLite's order.
///
/// It keeps the best values with their counts and ignores the values behind them. When all kept values have been
/// removed, the next best are read from the database, with one statement for many removals.
final class ExtremeAccumulator: Accumulator {
    struct Entry {
        let key: [UInt8]
        let value: StorageValue
        var count: Int
    }

    let isMaximum: Bool
    /// How many values are kept at least, where there are as many; twice as many at most.
    private let capacity: Int
    private let reading: ColumnReading
    private let buffer: KeyBuffer
    /// The best one first. Values that compare as equal but aren't the same have an entry each.
    private var entries: [Entry] = []
    /// Whether there are no values behind those that are kept.
    private var isComplete = true
    /// Whether the values have to be read.
    private(set) var isExhausted = false

    init(_ reading: ColumnReading, isMaximum: Bool, capacity: Int, _ buffer: KeyBuffer) {
        self.reading = reading
        self.capacity = capacity
        self.isMaximum = isMaximum
        self.buffer = buffer
    }

    func output() -> StorageValue { entries.first?.value ?? .null }

    func add(_ value: storage_value) { add(value, count: 1) }

    private func add(_ value: storage_value, count: Int) {
        guard !isExhausted, let key = key(value) else { return }
        let index = index(of: key)
        var end = index
        while end < entries.count, order(entries[end].key, key) == 0 {
            if value.isSame(as: entries[end].value) {
                entries[end].count += count
                return
            }
            end += 1
        }
        guard isComplete || index < entries.count else { return }
        entries.insert(Entry(key: Array(key), value: value.value(), count: count), at: end)
        trim()
    }

    func remove(_ value: storage_value) throws {
        guard !isExhausted, let key = key(value) else { return }
        var index = index(of: key)
        if index == entries.count, !isComplete { return }
        while index < entries.count, order(entries[index].key, key) == 0 {
            if value.isSame(as: entries[index].value) {
                entries[index].count -= 1
                if entries[index].count == 0 { entries.remove(at: index) }
                isExhausted = entries.isEmpty && !isComplete
                return
            }
            index += 1
        }
        throw StaleNode()
    }

    /// Takes the best values as the database has them, the best first.
    ///
    /// - Parameter isComplete: Whether there are no others.
    func fill(_ values: [(value: StorageValue, count: Int)], isComplete: Bool) {
        let memory = ValueMemory()
        entries = []
        (self.isComplete, isExhausted) = (true, false)
        withExtendedLifetime(memory) { for (value, count) in values { add(memory.keep(value), count: count) } }
        guard !isComplete else { return }
        self.isComplete = false
        // Others that compare as equal to the last one may follow.
        giveUp(from: entries.count - 1)
    }

    private func trim() {
        if entries.count > 2 * capacity { giveUp(from: capacity) }
    }

    /// Drops the values from an index on, with all that compare as equal, so that of each kept value all equal ones are
    /// known.
    private func giveUp(from index: Int) {
        guard entries.indices.contains(index) else { return }
        let kept = entries.firstIndex { $0.key == entries[index].key } ?? 0
        guard kept > 0 else { return }
        entries.removeSubrange(kept...)
        isComplete = false
    }

    // MARK: Order

    /// Valid until the next call; nil for NULL.
    private func key(_ value: storage_value) -> UnsafeRawBufferPointer? {
        buffer.removeAll()
        return ComparisonKey.append(value, reading, to: buffer) ? buffer.bytes(from: 0) : nil
    }

    private func order(_ entry: [UInt8], _ key: UnsafeRawBufferPointer) -> Int {
        let order = entry.withUnsafeBytes { ComparisonKey.order($0, key) }
        return isMaximum ? -order : order
    }

    /// The index of the first entry that isn't better than a key.
    private func index(of key: UnsafeRawBufferPointer) -> Int {
        entries.partitioningIndex { order($0.key, key) >= 0 }
    }
}
