internal import StorageCore

/// Values of a column, one of which a row must have: whoever has registered a condition adds and removes them as it comes to hold
/// other rows.
///
/// They aren't a part of the condition, as those of an `IN` are: a value more or less costs the same however many there are.
///
/// Isolation: not `Sendable`; it belongs to a ``PredicateIndex``.
final class ValueSet {
    let reading: ReadingIndex
    /// What else must be true of a row.
    let rest: [Condition]
    /// How many values there are of each hash: what has the same one by chance is found in vain.
    private var counts: [UInt64: Int32] = [:]

    init(_ reading: ReadingIndex, rest: [Condition]) { (self.reading, self.rest) = (reading, rest) }

    var count: Int { counts.count }
    /// Where to look for the values.
    var anchors: [Anchor] { counts.keys.map(anchor) }

    /// Where to look for a value.
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

    /// - Returns: Whether there is no value of this hash any more.
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
