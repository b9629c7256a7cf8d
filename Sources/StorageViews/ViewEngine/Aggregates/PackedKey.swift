/// The bytes of a comparison key as a dictionary key. Up to 15 bytes, enough for every number and many texts, need no
/// allocation.
struct PackedKey: Hashable {
    private let first: UInt64
    /// Its lowest byte is the number of bytes.
    private let second: UInt64
    private let rest: [UInt8]

    init(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count < 16 else {
            (first, second) = (0, .max)
            rest = Array(bytes)
            return
        }
        var (first, second) = (UInt64(0), UInt64(bytes.count))
        for (index, byte) in bytes.enumerated() {
            if index < 8 {
                first |= UInt64(byte) << UInt64(8 * index)
            } else {
                second |= UInt64(byte) << UInt64(8 * (index - 7))
            }
        }
        (self.first, self.second) = (first, second)
        rest = []
    }
}
