internal import CSQLite

/// A hash of a row, value by value, to tell states apart inside one process.
///
/// SplitMix64's mixing over eight bytes at a time: spread well, and no promise against somebody who wants two to be
/// equal.
struct RowHash {
    private(set) var value: UInt64

    init(seed: UInt64) { value = seed }

    private mutating func add(_ bits: UInt64) {
        var mixed = (value ^ bits) &+ 0x9e37_79b9_7f4a_7c15
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        value = mixed ^ (mixed >> 31)
    }

    mutating func addNull() { add(1) }

    mutating func add(integer: Int64) {
        add(2)
        add(UInt64(bitPattern: integer))
    }

    mutating func add(real: Double) {
        add(3)
        add(real.bitPattern)
    }

    mutating func add(_ bytes: UnsafeRawBufferPointer, isText: Bool) {
        add(isText ? 4 : 5)
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

    /// Adds a value of SQLite's.
    ///
    /// - Parameter isReal: Whether the column keeps reals only. The hook is shown some of them as the integers by which
    ///   the file holds them.
    mutating func add(_ sqlite: OpaquePointer?, isReal: Bool) {
        switch sqlite3_value_type(sqlite) {
        case SQLITE_INTEGER where isReal: add(real: Double(sqlite3_value_int64(sqlite)))
        case SQLITE_INTEGER: add(integer: sqlite3_value_int64(sqlite))
        case SQLITE_FLOAT: add(real: sqlite3_value_double(sqlite))
        case SQLITE_TEXT:
            let start = sqlite3_value_text(sqlite)
            add(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(sqlite))), isText: true)
        case SQLITE_BLOB:
            let start = sqlite3_value_blob(sqlite)
            add(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(sqlite))), isText: false)
        default: addNull()
        }
    }
}
