internal import CSQLite
internal import Foundation

/// The kinds of an encoded value: the low three bits of its head.
enum ValueKind {
    /// Head 0 is NULL; head 8 is the value that an earlier event of the run gave to this column of the row.
    static let null: UInt64 = 0
    static let known: UInt64 = 8
    /// The difference to the stream's last integer, zigzag, in the head.
    static let integer: UInt64 = 1
    /// Eight bytes follow.
    static let real: UInt64 = 2
    /// The length is in the head, the bytes follow.
    static let text: UInt64 = 3
    static let blob: UInt64 = 4
    /// A real without a fraction: as an integer, the difference to the stream's last such one.
    static let wholeReal: UInt64 = 5
    /// Text or a blob of the old value's type that shares a prefix (in the head) and a suffix with it: the suffix's
    /// length, the middle's length and the middle follow.
    static let edit: UInt64 = 6
    /// An integer whose difference doesn't fit the head: eight bytes follow.
    static let wideInteger: UInt64 = 7
}

/// The values of one column (or part of a key) of a run, in order. Heads and numbers are kept apart from the bytes of
/// texts, because each compresses better among its like.
struct ColumnStream: ~Copyable {
    private(set) var identifier: UInt64 = 0
    private var heads = ByteBuffer()
    private var bodies = ByteBuffer()
    private var lastInteger: Int64 = 0
    private var lastWhole: Int64 = 0

    mutating func reset(_ identifier: UInt64) {
        self.identifier = identifier
        heads.removeAll()
        bodies.removeAll()
        lastInteger = 0
        lastWhole = 0
    }

    /// Writes the lengths of both parts, then the heads.
    func appendHeads(to output: inout ByteBuffer) {
        output.append(varint: UInt64(heads.count))
        output.append(varint: UInt64(bodies.count))
        output.append(heads.bytes)
    }

    func appendBodies(to output: inout ByteBuffer) { output.append(bodies.bytes) }

    @inline(__always)
    mutating func appendKnown() { heads.append(UInt8(ValueKind.known)) }

    @inline(__always)
    mutating func append(_ value: storage_value, _ view: EventView) {
        switch Int32(value.type) {
        case SQLITE_INTEGER: appendInteger(Int64(bitPattern: value.bits))
        case SQLITE_FLOAT: appendReal(value.bits)
        case SQLITE_TEXT: appendBytes(value, view, kind: ValueKind.text)
        case SQLITE_BLOB: appendBytes(value, view, kind: ValueKind.blob)
        default: heads.append(UInt8(ValueKind.null))
        }
    }

    /// The new value of an update, which may be stored as an edit of the old one.
    @inline(__always)
    mutating func append(_ value: storage_value, _ view: EventView, old: storage_value) {
        let bytes = value.hasBytes
        if bytes, value.type == old.type, appendEdit(of: old, to: value, in: view) { return }
        append(value, view)
    }

    @inline(__always)
    private mutating func appendInteger(_ value: Int64) {
        let difference = zigzag(value &- lastInteger)
        lastInteger = value
        if difference < 1 << 61 {
            heads.append(varint: difference << 3 | ValueKind.integer)
        } else {
            heads.append(UInt8(ValueKind.wideInteger))
            heads.append(fixed: UInt64(bitPattern: value))
        }
    }

    private mutating func appendReal(_ bits: UInt64) {
        let value = Double(bitPattern: bits)
        // Only reals that the integer restores bit for bit: -0.0, for example, isn't one.
        if abs(value) < 0x1p53, Double(Int64(value)).bitPattern == bits {
            let whole = Int64(value)
            heads.append(varint: zigzag(whole &- lastWhole) << 3 | ValueKind.wholeReal)
            lastWhole = whole
        } else {
            heads.append(UInt8(ValueKind.real))
            bodies.append(fixed: bits)
        }
    }

    @inline(__always)
    private mutating func appendBytes(_ value: storage_value, _ view: EventView, kind: UInt64) {
        heads.append(varint: UInt64(value.size) << 3 | kind)
        bodies.append(view.bytes + Int(value.bits), count: Int(value.size))
    }

    private mutating func appendEdit(of old: storage_value, to value: storage_value, in view: EventView) -> Bool {
        let shorter = Int(min(value.size, old.size))
        guard shorter >= 8 else { return false }
        let a = view.bytes + Int(old.bits)
        let b = view.bytes + Int(value.bits)
        let prefix = commonPrefix(a, b, limit: shorter)
        let suffix = commonSuffix(a + Int(old.size), b + Int(value.size), limit: shorter - prefix)
        guard prefix + suffix >= 8 else { return false }
        let middle = Int(value.size) - prefix - suffix
        heads.append(varint: UInt64(prefix) << 3 | ValueKind.edit)
        heads.append(varint: UInt64(suffix))
        heads.append(varint: UInt64(middle))
        bodies.append(b + prefix, count: middle)
        return true
    }
}

/// How many bytes two runs share at their beginnings, eight at a time.
private func commonPrefix(_ a: UnsafePointer<UInt8>, _ b: UnsafePointer<UInt8>, limit: Int) -> Int {
    var count = 0
    while count + 8 <= limit {
        let left = UnsafeRawPointer(a + count).loadUnaligned(as: UInt64.self)
        let right = UnsafeRawPointer(b + count).loadUnaligned(as: UInt64.self)
        if left != right { return count + (UInt64(littleEndian: left ^ right).trailingZeroBitCount >> 3) }
        count += 8
    }
    while count < limit, a[count] == b[count] { count += 1 }
    return count
}

/// How many bytes two runs share before their ends.
private func commonSuffix(_ a: UnsafePointer<UInt8>, _ b: UnsafePointer<UInt8>, limit: Int) -> Int {
    var count = 0
    while count + 8 <= limit {
        let left = UnsafeRawPointer(a - count - 8).loadUnaligned(as: UInt64.self)
        let right = UnsafeRawPointer(b - count - 8).loadUnaligned(as: UInt64.self)
        if left != right { return count + (UInt64(littleEndian: left ^ right).leadingZeroBitCount >> 3) }
        count += 8
    }
    while count < limit, (a - count - 1).pointee == (b - count - 1).pointee { count += 1 }
    return count
}
