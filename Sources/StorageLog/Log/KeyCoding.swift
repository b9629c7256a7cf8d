package import CSQLite
internal import Foundation
package import StorageCore

/// A primary key as bytes: equal keys have equal bytes, whatever their values.
package enum KeyCoding {
    package static func encode(_ key: UnsafePointer<storage_value>, count: Int, bytes: UnsafePointer<UInt8>) -> [UInt8]
    {
        var buffer = ByteBuffer(capacity: 64)
        for index in 0..<count { buffer.append(keyPart: key[index], from: bytes) }
        return [UInt8](buffer.bytes)
    }

    package static func encode(_ key: [StorageValue]) -> [UInt8] {
        var buffer = ByteBuffer(capacity: 64)
        for value in key { value.withRaw { buffer.append(keyPart: $0, from: nil) } }
        return [UInt8](buffer.bytes)
    }

    package static func encode(_ key: [ExactValue]) -> [UInt8] {
        var buffer = ByteBuffer(capacity: 64)
        for value in key { value.withRaw { buffer.append(keyPart: $0, from: nil) } }
        return [UInt8](buffer.bytes)
    }

    /// The values of an encoded key.
    package static func decode(_ bytes: [UInt8]) throws -> [ExactValue] {
        try bytes.withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress else { return [] }
            var reader = ByteReader(start, count: bytes.count)
            var values: [ExactValue] = []
            while reader.remaining > 0, !reader.failed {
                switch Int32(reader.skip(1).pointee) {
                case SQLITE_INTEGER: values.append(.integer(Int64(bitPattern: reader.fixed())))
                case SQLITE_FLOAT: values.append(.real(reader.fixed()))
                case SQLITE_TEXT: values.append(.text(reader.bytes()))
                case SQLITE_BLOB: values.append(.blob(reader.bytes()))
                default: values.append(.null)
                }
            }
            guard !reader.failed else { throw StorageError.corruptLog("a key is cut short") }
            return values
        }
    }
}

extension ByteBuffer {
    /// A value as one part of a key.
    ///
    /// - Parameter base: From where the value's `bits` count; nil where they are an address.
    @inline(__always)
    fileprivate mutating func append(keyPart value: storage_value, from base: UnsafePointer<UInt8>?) {
        append(UInt8(truncatingIfNeeded: value.type))
        if value.hasBytes {
            append(varint: UInt64(value.size))
            append(value.bytes(from: base))
        } else if !value.isNull {
            append(fixed: value.bits)
        }
    }
}

extension ByteReader {
    /// Bytes after their count.
    mutating func bytes() -> [UInt8] {
        let slice = slice()
        return Array(UnsafeBufferPointer(start: slice.next, count: slice.remaining))
    }
}
