internal import CSQLite
internal import StorageCore
internal import StorageLog
internal import StorageRouting

/// Keeps one number of a group while values come and go.
///
/// Isolation: not `Sendable`; it belongs to its node.
protocol Accumulator: AnyObject {
    func add(_ value: storage_value)
    /// Removes a value that was added.
    ///
    /// - Throws: ``StaleNode`` if it wasn't added.
    func remove(_ value: storage_value) throws
    /// - Throws: What SQLite's function would throw.
    func output() throws -> StorageValue
}

/// How many values aren't NULL.
final class CountAccumulator: Accumulator {
    private var count: Int64 = 0

    func add(_ value: storage_value) { if !value.isNull { count += 1 } }
    func remove(_ value: storage_value) { if !value.isNull { count -= 1 } }
    func output() -> StorageValue { .integer(count) }
}

/// How many different values there are, NULL not counted.
final class DistinctAccumulator: Accumulator {
    private let reading: ColumnReading
    private let buffer: KeyBuffer
    private var counts: [PackedKey: Int] = [:]

    init(_ reading: ColumnReading, _ buffer: KeyBuffer) {
        self.reading = reading
        self.buffer = buffer
    }

    private func key(_ value: storage_value) -> PackedKey? {
        buffer.removeAll()
        return ComparisonKey.append(value, reading, to: buffer) ? PackedKey(buffer.bytes(from: 0)) : nil
    }

    func add(_ value: storage_value) {
        guard let key = key(value) else { return }
        counts[key, default: 0] += 1
    }

    func remove(_ value: storage_value) throws {
        guard let key = key(value) else { return }
        guard let count = counts[key] else { throw StaleNode() }
        counts[key] = count == 1 ? nil : count - 1
    }

    func output() -> StorageValue { .integer(Int64(counts.count)) }
}

extension storage_value {
    /// Whether both values have the same type and bytes.
    func isSame(as value: StorageValue) -> Bool { value.withRaw { isSame(as: $0) } }
}
