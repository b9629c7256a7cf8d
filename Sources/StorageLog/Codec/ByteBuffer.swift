internal import Foundation

/// A growing run of bytes that the encoder writes into. Not thread-safe: one writer owns it.
struct ByteBuffer: ~Copyable {
    private(set) var base: UnsafeMutablePointer<UInt8>
    private(set) var count = 0
    private var capacity: Int

    init(capacity: Int = 256) {
        self.capacity = capacity
        base = .allocate(capacity: capacity)
    }

    deinit { base.deallocate() }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

    mutating func removeAll() { count = 0 }

    /// Makes room for `additional` bytes and returns where they go.
    @inline(__always)
    mutating func reserve(_ additional: Int) -> UnsafeMutablePointer<UInt8> {
        if count + additional > capacity { grow(to: count + additional) }
        return base + count
    }

    @inline(never)
    private mutating func grow(to needed: Int) {
        let larger = Swift.max(capacity * 2, needed)
        let moved = UnsafeMutablePointer<UInt8>.allocate(capacity: larger)
        moved.update(from: base, count: count)
        base.deallocate()
        base = moved
        capacity = larger
    }

    @inline(__always)
    mutating func advance(_ written: Int) { count += written }

    @inline(__always)
    mutating func append(_ byte: UInt8) {
        reserve(1).pointee = byte
        count += 1
    }

    @inline(__always)
    mutating func append(_ source: UnsafePointer<UInt8>, count size: Int) {
        guard size > 0 else { return }
        reserve(size).update(from: source, count: size)
        count += size
    }

    mutating func append(_ source: UnsafeRawBufferPointer) {
        guard let start = source.baseAddress else { return }
        append(start.assumingMemoryBound(to: UInt8.self), count: source.count)
    }

    /// LEB128: seven bits a byte, lowest first, the top bit says that more follow.
    @inline(__always)
    mutating func append(varint value: UInt64) {
        let start = reserve(10)
        var value = value
        var index = 0
        while value >= 0x80 {
            start[index] = UInt8(truncatingIfNeeded: value) | 0x80
            value >>= 7
            index += 1
        }
        start[index] = UInt8(truncatingIfNeeded: value)
        count += index + 1
    }

    @inline(__always)
    mutating func append(fixed value: UInt64) {
        var little = value.littleEndian
        withUnsafeBytes(of: &little) { append($0) }
    }

    mutating func append(string: String) {
        var string = string
        string.withUTF8 { bytes in
            append(varint: UInt64(bytes.count))
            append(UnsafeRawBufferPointer(bytes))
        }
    }
}

/// Signed numbers near zero become small unsigned ones: 0, -1, 1, -2 … are 0, 1, 2, 3 ….
@inline(__always)
func zigzag(_ value: Int64) -> UInt64 { UInt64(bitPattern: value << 1 ^ value >> 63) }

@inline(__always)
func unzigzag(_ value: UInt64) -> Int64 { Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1) }
