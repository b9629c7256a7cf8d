/// An incremental hash of bytes: after each byte it is the hash of all bytes so far.
///
/// Source: Fowler, Noll, Vo, FNV-1a, 64 bits; the last mix is that of SplitMix64.
struct PrefixHash {
    private var state: UInt64

    init(seed: UInt64) { state = 0xCBF2_9CE4_8422_2325 ^ (seed &* 0x9E37_79B9_7F4A_7C15) }

    @inline(__always)
    mutating func combine(_ byte: UInt8) { state = (state ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }

    @inline(__always)
    mutating func combine(_ number: UInt64) {
        state = (state ^ number) &* 0x9E37_79B9_7F4A_7C15
        state ^= state >> 32
    }

    @inline(__always)
    mutating func combine(_ bytes: UnsafeRawBufferPointer) { for byte in bytes { combine(byte) } }

    @inline(__always)
    var finished: UInt64 {
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        return mixed ^ mixed >> 27
    }
}
