internal import CSQLite
internal import Foundation
internal import StorageLog

/// The fastest order to load rows in: nearly that of their keys in the table. It is the same for all windows, so that they can be
/// merged.
struct KeyOrder {
    let values: UnsafeBufferPointer<storage_value>
    /// Not empty if there is a text: an extra byte follows the last one.
    let bytes: UnsafeBufferPointer<UInt8>
    /// The number of values in a key.
    let parts: Int

    /// A number that rises with the first value of a key, as far as 16 bytes distinguish it: most keys needn't be read to be compared,
    /// and their bytes are scattered in memory. Those of numbers and texts can't be compared with each other.
    struct Prefix: Comparable {
        private var high: UInt64 = 0
        private var low: UInt64 = 0

        init() {}

        /// - Parameter start: The number of bytes that are the same in all texts.
        @inline(__always)
        init(_ value: storage_value, in bytes: UnsafePointer<UInt8>, from start: Int = 0) {
            guard value.hasBytes else {
                high = value.bits ^ signBit
                return
            }
            for offset in 0..<min(16, max(Int(value.size) - start, 0)) {
                let byte = UInt64(bytes[Int(value.bits) + start + offset])
                if offset < 8 {
                    high |= byte << UInt64(56 - 8 * offset)
                } else {
                    low |= byte << UInt64(120 - 8 * offset)
                }
            }
        }

        @inline(__always)
        static func < (one: Prefix, other: Prefix) -> Bool {
            one.high != other.high ? one.high < other.high : one.low < other.low
        }
    }

    /// Sorts rows by their keys.
    ///
    /// - Parameter rows: For each row, its index and that of its key's first value.
    /// - Returns: The indices of the rows, and where among them a row has the key of the row before.
    func sorted(_ rows: [(row: Int32, values: Int)]) -> (rows: [Int32], repeats: [Int]) {
        let start = commonLength(rows)
        var (hasNumbers, hasTexts) = (false, false)
        var sorted: [(prefix: Prefix, row: Int32, values: Int)] = []
        sorted.reserveCapacity(rows.count)
        for (index, row) in rows.enumerated() {
            // Keys are scattered in memory, so each is prefetched.
            if index + 16 < rows.count { storage_prefetch(values.baseAddress! + rows[index + 16].values) }
            if index + 8 < rows.count { prefetchText(values[rows[index + 8].values], from: start) }
            let value = values[row.values]
            if value.hasBytes { hasTexts = true } else { hasNumbers = true }
            sorted.append((Prefix(value, in: bytes.baseAddress!, from: start), row.row, row.values))
        }
        if hasNumbers, hasTexts { for index in sorted.indices { sorted[index].prefix = Prefix() } }
        sorted.sort { one, other in
            if one.prefix != other.prefix { return one.prefix < other.prefix }
            let order = order(one.values, other.values)
            return order != 0 ? order < 0 : one.row < other.row
        }
        let repeats = sorted.indices.dropFirst().filter { index in
            let (one, other) = (sorted[index - 1], sorted[index])
            return one.prefix == other.prefix && order(one.values, other.values) == 0
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

    /// Compares the keys whose first values have these indices.
    private func order(_ one: Int, _ other: Int) -> Int {
        let (values, bytes) = (values.baseAddress!, bytes.baseAddress!)
        return Self.order(values + one, in: bytes, values + other, in: bytes, keyCount: parts)
    }

    /// Compares two keys: numbers come before texts and blobs.
    ///
    /// - Returns: A negative number, 0 or a positive one, as the first key comes before the other, is the same, or comes after it.
    @inline(__always)
    static func order(
        _ one: UnsafePointer<storage_value>, in bytes: UnsafePointer<UInt8>, _ other: UnsafePointer<storage_value>,
        in otherBytes: UnsafePointer<UInt8>, keyCount: Int
    ) -> Int {
        for part in 0..<keyCount {
            let (a, b) = (one[part], other[part])
            guard a.hasBytes == b.hasBytes else { return a.hasBytes ? 1 : -1 }
            if a.hasBytes {
                let order = memcmp(bytes + Int(a.bits), otherBytes + Int(b.bits), Int(min(a.size, b.size)))
                if order != 0 { return Int(order) }
                if a.size != b.size { return a.size < b.size ? -1 : 1 }
            } else if a.bits != b.bits {
                return a.bits ^ signBit < b.bits ^ signBit ? -1 : 1
            }
            if a.type != b.type { return a.type < b.type ? -1 : 1 }
        }
        return 0
    }

}

private let signBit: UInt64 = 1 << 63
