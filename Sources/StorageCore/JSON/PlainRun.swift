/// Finds the bytes of JSON text that must be checked or escaped, eight at a time.
package enum PlainRun {
    /// The index of the first byte in `from..<to` that is a quote, a backslash, a control character or, if asked for,
    /// not ASCII; `to` if there is none.
    @inlinable @inline(__always)
    package static func end(in base: UnsafePointer<UInt8>, from: Int, to end: Int, stopsAtNonASCII: Bool) -> Int {
        var index = from
        while index &+ 8 <= end {
            let word = UInt64(littleEndian: UnsafeRawPointer(base + index).loadUnaligned(as: UInt64.self))
            var ends = endBits(word)
            if stopsAtNonASCII { ends |= word & highBits }
            if ends != 0 { return index &+ (ends.trailingZeroBitCount >> 3) }
            index &+= 8
        }
        while index < end {
            let byte = base[index]
            if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return index }
            if stopsAtNonASCII, byte >= 0x80 { return index }
            index &+= 1
        }
        return end
    }

    @usableFromInline static var highBits: UInt64 {
        @inlinable @inline(__always) get { 0x8080_8080_8080_8080 }
    }

    /// Bit Twiddling Hacks, "determine if a word has a byte less than n": the lowest high bit that is set belongs to the
    /// first byte that ends a run. Higher ones may be wrong, because of borrows.
    @inlinable @inline(__always)
    static func endBits(_ word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let control = word &- (ones &* 0x20)
        let quote = (word ^ (ones &* 0x22)) &- ones
        let backslash = (word ^ (ones &* 0x5c)) &- ones
        return (control | quote | backslash) & ~word & highBits
    }
}
