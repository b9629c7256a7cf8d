extension Sequence<UInt8> {
    /// The 64-bit FNV-1a hash in hexadecimal: stable across runs, for texts that aren't chosen to collide.
    ///
    /// Source: RFC 9923.
    package var fnv1a: String {
        let hash = reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return String(hash, radix: 16)
    }
}
