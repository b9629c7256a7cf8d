/// A fast 64-bit hash of bytes, the same on every machine.
///
/// Multiply-and-fold over eight bytes at a time, as in wyhash. Safe against accidental collisions, but not against deliberate ones, unless the seed
/// is secret.
enum ByteHash {
    private static let multiplier: UInt64 = 0x9e37_79b9_7f4a_7c15
    private static let lengthMultiplier: UInt64 = 0xe703_7ed1_a0b4_28db

    /// - Complexity: O(n); several bytes per nanosecond.
    @inline(__always)
    static func hash(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
        var state = seed ^ (UInt64(truncatingIfNeeded: bytes.count) &* lengthMultiplier)
        guard let base = bytes.baseAddress else { return fold(state, multiplier) }
        var offset = 0
        while offset &+ 8 <= bytes.count {
            let word = base.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            state = fold(state ^ UInt64(littleEndian: word), multiplier)
            offset &+= 8
        }
        var tail: UInt64 = 0
        var shift: UInt64 = 0
        while offset < bytes.count {
            tail |= UInt64(base.load(fromByteOffset: offset, as: UInt8.self)) << shift
            shift &+= 8
            offset &+= 1
        }
        return fold(state ^ tail, multiplier)
    }

    @inline(__always)
    private static func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return product.high ^ product.low
    }
}
