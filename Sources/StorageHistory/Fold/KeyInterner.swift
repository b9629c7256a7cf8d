internal import CSQLite
internal import Foundation

/// Numbers keys in the order in which they are met first, and finds them again without making a value of them.
///
/// Keys stand one after another in a run of bytes; a table of open addressing leads to them. Not `Sendable`: one owner.
struct KeyInterner {
    private var bytes: [UInt8] = []
    /// Where each key begins; the end stands behind the last.
    private var starts: [Int] = [0]
    private var hashes: [UInt64] = []
    /// Places of keys plus one; 0 is free. Its size is a power of two and at least twice the number of keys.
    private var slots = [Int32](repeating: 0, count: 1_024)

    var count: Int { hashes.count }

    /// The place of a key, and whether it wasn't known.
    mutating func index(
        of key: UnsafePointer<storage_value>, count parts: Int, in data: UnsafePointer<UInt8>
    ) -> (index: Int, isNew: Bool) {
        let hash = Self.hash(of: key, count: parts, in: data)
        var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
        while slots[slot] != 0 {
            let index = Int(slots[slot]) - 1
            if hashes[index] == hash, isKey(key, count: parts, in: data, at: index) { return (index, false) }
            slot = (slot + 1) & (slots.count - 1)
        }
        for part in 0..<parts { append(key[part], data) }
        starts.append(bytes.count)
        hashes.append(hash)
        slots[slot] = Int32(hashes.count)
        if hashes.count * 2 > slots.count { grow() }
        return (hashes.count - 1, true)
    }

    private mutating func append(_ value: storage_value, _ data: UnsafePointer<UInt8>) {
        bytes.append(UInt8(truncatingIfNeeded: value.type))
        if Self.hasBytes(value) {
            withUnsafeBytes(of: UInt64(value.size)) { bytes.append(contentsOf: $0) }
            bytes.append(contentsOf: UnsafeBufferPointer(start: data + Int(value.bits), count: Int(value.size)))
        } else {
            withUnsafeBytes(of: value.bits) { bytes.append(contentsOf: $0) }
        }
    }

    private func isKey(
        _ key: UnsafePointer<storage_value>, count parts: Int, in data: UnsafePointer<UInt8>, at index: Int
    ) -> Bool {
        let end = starts[index + 1]
        return bytes.withUnsafeBytes { stored in
            var offset = starts[index]
            for part in 0..<parts {
                let value = key[part]
                guard offset + 9 <= end, stored[offset] == UInt8(truncatingIfNeeded: value.type) else { return false }
                let number = stored.loadUnaligned(fromByteOffset: offset + 1, as: UInt64.self)
                offset += 9
                guard Self.hasBytes(value) else {
                    if number != value.bits { return false }
                    continue
                }
                let size = Int(value.size)
                guard number == UInt64(value.size), offset + size <= end else { return false }
                if size > 0, memcmp(stored.baseAddress! + offset, data + Int(value.bits), size) != 0 { return false }
                offset += size
            }
            return offset == end
        }
    }

    private mutating func grow() {
        slots = [Int32](repeating: 0, count: slots.count * 2)
        for (index, hash) in hashes.enumerated() {
            var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
            while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
            slots[slot] = Int32(index + 1)
        }
    }

    private static func hasBytes(_ value: storage_value) -> Bool {
        Int32(value.type) == SQLITE_TEXT || Int32(value.type) == SQLITE_BLOB
    }

    private static func hash(
        of key: UnsafePointer<storage_value>, count parts: Int, in data: UnsafePointer<UInt8>
    ) -> UInt64 {
        var hash: UInt64 = 0x9e37_79b9_7f4a_7c15
        for part in 0..<parts {
            let value = key[part]
            hash = mix(hash ^ UInt64(value.type))
            guard hasBytes(value) else {
                hash = mix(hash ^ value.bits)
                continue
            }
            let start = UnsafeRawPointer(data + Int(value.bits))
            var offset = 0
            let size = Int(value.size)
            while offset + 8 <= size {
                hash = mix(hash ^ start.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
                offset += 8
            }
            var rest = UInt64(size)
            while offset < size {
                rest = rest << 8 | UInt64(start.load(fromByteOffset: offset, as: UInt8.self))
                offset += 1
            }
            hash = mix(hash ^ rest)
        }
        return hash
    }

    /// Spreads every bit over all others (the finaliser of SplitMix64).
    private static func mix(_ value: UInt64) -> UInt64 {
        var value = value
        value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
        return value ^ (value >> 31)
    }
}
