/// Reads bytes that may be damaged: a read beyond the end returns zero and sets ``failed``, so that the hot loop has one check at
/// its end instead of a `throw` per number.
struct ByteReader {
    private(set) var next: UnsafePointer<UInt8>
    let end: UnsafePointer<UInt8>
    private(set) var failed = false

    init(_ start: UnsafePointer<UInt8>, count: Int) {
        next = start
        end = start + count
    }

    var remaining: Int { end - next }

    /// Marks the bytes as damaged.
    mutating func fail() { failed = true }

    @inline(__always)
    mutating func varint() -> UInt64 {
        if next < end, next.pointee < 0x80 {
            let value = UInt64(next.pointee)
            next += 1
            return value
        }
        return longVarint()
    }

    @inline(never)
    private mutating func longVarint() -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while next < end, shift < 70 {
            let byte = next.pointee
            next += 1
            // The tenth byte holds the last of 64 bits.
            guard shift < 63 || byte < 2 else { break }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
        failed = true
        return 0
    }

    /// A varint that is no more than `limit`.
    mutating func varint(atMost limit: Int) -> Int {
        let value = varint()
        guard value <= UInt64(limit) else {
            failed = true
            return 0
        }
        return Int(value)
    }

    /// Reads a varint that counts items, each of which takes at least `bytesEach` of the remaining bytes.
    ///
    /// - Parameter limit: The maximum count regardless of the bytes, for items that take more memory than bytes.
    mutating func count(bytesEach: Int, atMost limit: Int = .max) -> Int {
        let value = varint()
        guard value <= UInt64(min(remaining / Swift.max(bytesEach, 1), limit)) else {
            failed = true
            return 0
        }
        return Int(value)
    }

    @inline(__always)
    mutating func fixed() -> UInt64 {
        guard remaining >= 8 else {
            failed = true
            return 0
        }
        let value = UnsafeRawPointer(next).loadUnaligned(as: UInt64.self)
        next += 8
        return UInt64(littleEndian: value)
    }

    @inline(__always)
    mutating func skip(_ count: UInt64) -> UnsafePointer<UInt8> {
        let start = next
        guard count <= UInt64(remaining) else {
            failed = true
            return start
        }
        next += Int(count)
        return start
    }

    /// Reads UTF-8 text of at most `limit` bytes.
    mutating func string(atMost limit: Int) -> String {
        let size = varint(atMost: limit)
        let start = skip(UInt64(size))
        guard !failed, let text = String(validating: UnsafeBufferPointer(start: start, count: size), as: UTF8.self)
        else {
            failed = true
            return ""
        }
        return text
    }

    mutating func slice() -> ByteReader {
        let size = varint()
        let start = skip(size)
        return ByteReader(start, count: failed ? 0 : Int(size))
    }
}
