internal import CSQLite
internal import StorageLog

/// A hash of a row, value by value, to distinguish states within one process.
///
/// SplitMix64's mixing over eight bytes at a time: well distributed, but not secure against deliberate collisions.
struct RowHash {
    private(set) var value: UInt64

    init(seed: UInt64) { value = seed }

    private mutating func add(_ bits: UInt64) {
        var mixed = (value ^ bits) &+ 0x9e37_79b9_7f4a_7c15
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        value = mixed ^ (mixed >> 31)
    }

    private mutating func add(_ bytes: UnsafeRawBufferPointer) {
        add(UInt64(bytes.count))
        var offset = 0
        while offset + 8 <= bytes.count {
            add(bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset += 8
        }
        var rest: UInt64 = 0
        while offset < bytes.count {
            rest = rest << 8 | UInt64(bytes[offset])
            offset += 1
        }
        add(rest)
    }

    /// Adds a value, whose `bits` are an address if it has bytes.
    ///
    /// - Parameter isReal: Whether the column stores only reals. The hook receives some of them as the integers that
    ///   the file stores.
    mutating func add(_ value: storage_value, isReal: Bool) {
        if isReal, value.type == UInt32(SQLITE_INTEGER) {
            return add(storage_value(real: Double(Int64(bitPattern: value.bits))), isReal: false)
        }
        add(UInt64(value.type))
        if value.hasBytes { add(value.addressed) } else { add(value.bits) }
    }
}
