internal import Foundation

/// A buffer of bytes that the codec appends to.
typealias ByteBuffer = GrowingBuffer<UInt8>

extension GrowingBuffer where Item == UInt8 {
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

    @inline(__always)
    mutating func append(_ byte: UInt8) {
        reserve(1).pointee = byte
        advance(1)
    }

    @inline(__always)
    mutating func append(_ source: UnsafePointer<UInt8>, count size: Int) {
        guard size > 0 else { return }
        reserve(size).update(from: source, count: size)
        advance(size)
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
        advance(index + 1)
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
