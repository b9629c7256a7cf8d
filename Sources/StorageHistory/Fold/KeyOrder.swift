internal import CSQLite
internal import Foundation
internal import StorageLog

/// The fastest order to load rows in: nearly that of their keys in the table.
struct KeyOrder {
    let values: UnsafeBufferPointer<storage_value>
    /// Not empty if there is a text: an extra byte follows the last one.
    let bytes: UnsafeBufferPointer<UInt8>
    /// The number of values in a key.
    let parts: Int

    /// A prefix that distinguishes most keys, so that their bytes, which are scattered in memory, needn't be read.
    private struct Prefix {
        var high: UInt64 = 0
        var low: UInt64 = 0
    }

    /// Sorts rows by their keys.
    ///
    /// - Parameter rows: For each row, its index and that of its key's first value.
    /// - Returns: The indices of the rows, and where among them a row has the key of the row before.
    func sorted(_ rows: [(row: Int32, values: Int)]) -> (rows: [Int32], repeats: [Int]) {
        let start = commonLength(rows)
        var sorted: [(prefix: Prefix, row: Int32, values: Int)] = []
        sorted.reserveCapacity(rows.count)
        for (index, row) in rows.enumerated() {
            // Keys are scattered in memory, so each is prefetched.
            if index + 16 < rows.count { storage_prefetch(values.baseAddress! + rows[index + 16].values) }
            if index + 8 < rows.count { prefetchText(values[rows[index + 8].values], from: start) }
            sorted.append((prefix(row.values, from: start), row.row, row.values))
        }
        sorted.sort { one, other in
            if one.prefix.high != other.prefix.high { return one.prefix.high < other.prefix.high }
            if one.prefix.low != other.prefix.low { return one.prefix.low < other.prefix.low }
            return isBefore(one.values, other.values)
        }
        let repeats = sorted.indices.dropFirst().filter { index in
            let (one, other) = (sorted[index - 1], sorted[index])
            return one.prefix.high == other.prefix.high && one.prefix.low == other.prefix.low
                && !isBefore(one.values, other.values)
        }
        return (sorted.map(\.row), repeats)
    }

    private func prefetchText(_ value: storage_value, from start: Int) {
        guard value.hasBytes else { return }
        storage_prefetch(bytes.baseAddress! + Int(value.bits) + start)
    }

    /// The length of the common prefix of all first key parts that are texts, such as paths.
    private func commonLength(_ rows: [(row: Int32, values: Int)]) -> Int {
        guard let first = rows.first.map({ values[$0.values] }), first.hasBytes else { return 0 }
        var length = Int(first.size)
        for row in rows {
            let value = values[row.values]
            guard value.hasBytes else { continue }
            length = min(length, Int(value.size))
            while !isSame(first, as: value, upTo: length) { length -= 1 }
        }
        return length
    }

    private func isSame(_ one: storage_value, as other: storage_value, upTo length: Int) -> Bool {
        length == 0 || memcmp(bytes.baseAddress! + Int(one.bits), bytes.baseAddress! + Int(other.bits), length) == 0
    }

    /// A number that rises with the key's first part, as far as 16 bytes distinguish it.
    private func prefix(_ index: Int, from start: Int) -> Prefix {
        let value = values[index]
        guard value.hasBytes else { return Prefix(high: value.bits ^ (1 << 63)) }
        var prefix = Prefix()
        for offset in 0..<min(16, max(Int(value.size) - start, 0)) {
            let byte = UInt64(bytes[Int(value.bits) + start + offset])
            if offset < 8 {
                prefix.high |= byte << UInt64(56 - 8 * offset)
            } else {
                prefix.low |= byte << UInt64(120 - 8 * offset)
            }
        }
        return prefix
    }

    private func isBefore(_ one: Int, _ other: Int) -> Bool {
        for part in 0..<parts {
            let (a, b) = (values[one + part], values[other + part])
            if a.type != b.type { return a.type < b.type }
            guard a.hasBytes else {
                if a.bits != b.bits { return a.bits ^ (1 << 63) < b.bits ^ (1 << 63) }
                continue
            }
            let start = bytes.baseAddress!
            let order = memcmp(start + Int(a.bits), start + Int(b.bits), Int(min(a.size, b.size)))
            if order != 0 || a.size != b.size { return order != 0 ? order < 0 : a.size < b.size }
        }
        return false
    }
}
