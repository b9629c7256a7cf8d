internal import StorageCore

/// A set of column values, one of which a row must have. The subscriber adds and removes values as its own rows change.
///
/// They aren't part of the condition, unlike those of an `IN`: adding or removing a value costs the same however many
/// there are.
///
/// Isolation: not `Sendable`; it belongs to a ``PredicateIndex``.
final class ValueSet {
    let reading: ReadingIndex
    /// The other conditions that a row must meet.
    let rest: [Condition]
    /// The number of values with each hash: a collision only costs a needless evaluation.
    private var counts: [UInt64: Int32] = [:]

    init(_ reading: ReadingIndex, rest: [Condition]) { (self.reading, self.rest) = (reading, rest) }

    var count: Int { counts.count }
    /// The anchors of the values.
    var anchors: [Anchor] { counts.keys.map(anchor) }

    /// The anchor of a value's hash.
    func anchor(_ hash: UInt64) -> Anchor { .equal(reading: reading, hash: hash) }

    /// The hash of a value; nil for NULL, which equals nothing.
    func hash(of value: StorageValue, in row: RowKeys) -> UInt64? {
        ComparisonKey.bytes(of: value, row[reading]).map { key in
            key.withUnsafeBytes { Anchor.hash(equal: $0, reading) }
        }
    }

    /// - Returns: Whether there was no value of this hash before.
    func insert(_ hash: UInt64) -> Bool {
        counts[hash, default: 0] += 1
        return counts[hash] == 1
    }

    /// - Returns: Whether it was the last value with this hash.
    func remove(_ hash: UInt64) -> Bool {
        guard let count = counts[hash] else { return false }
        counts[hash] = count == 1 ? nil : count - 1
        return count == 1
    }

    /// Whether a row has one of the values.
    func holds(_ row: RowKeys, _ image: RowKeys.Image) -> Bool {
        row.key(reading, image).map { counts[Anchor.hash(equal: $0, reading)] != nil } ?? false
    }
}
