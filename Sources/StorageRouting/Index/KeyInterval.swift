/// The first 16 bytes of a comparison key, as numbers: all of a number's key, the beginning of a text's. Sorted like
/// the keys, but keys that differ only after these bytes are equal.
struct KeyHead: Hashable, Comparable {
    let high: UInt64
    let low: UInt64

    static let lowest = KeyHead(high: 0, low: 0)
    static let highest = KeyHead(high: .max, low: .max)

    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    init(_ key: [UInt8]) { self = key.withUnsafeBytes { KeyHead($0) } }

    init(_ key: UnsafeRawBufferPointer) {
        if key.count >= 16 {
            high = UInt64(bigEndian: key.loadUnaligned(as: UInt64.self))
            low = UInt64(bigEndian: key.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            return
        }
        var numbers: (UInt64, UInt64) = (0, 0)
        withUnsafeMutableBytes(of: &numbers) { $0.copyMemory(from: key) }
        high = UInt64(bigEndian: numbers.0)
        low = UInt64(bigEndian: numbers.1)
    }

    static func < (left: KeyHead, right: KeyHead) -> Bool {
        left.high != right.high ? left.high < right.high : left.low < right.low
    }
}

/// Keys from one to another, both included, whether or not the condition includes its bounds: evaluating it decides
/// that.
struct KeyInterval: Hashable {
    let lower: KeyHead
    let upper: KeyHead
}
