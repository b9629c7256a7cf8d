package import CSQLite
internal import Foundation
package import StorageCore

/// A primary key as bytes: equal keys have equal bytes, whatever their values.
package enum KeyCoding {
    package static func encode(_ key: UnsafePointer<storage_value>, count: Int, bytes: UnsafePointer<UInt8>) -> [UInt8]
    {
        var buffer = ByteBuffer(capacity: 64)
        for index in 0..<count {
            let value = key[index]
            buffer.append(UInt8(truncatingIfNeeded: value.type))
            if value.hasBytes {
                buffer.append(varint: UInt64(value.size))
                buffer.append(bytes + Int(value.bits), count: Int(value.size))
            } else if !value.isNull {
                buffer.append(fixed: value.bits)
            }
        }
        return [UInt8](buffer.bytes)
    }

    package static func encode(_ key: [StorageValue]) -> [UInt8] {
        var buffer = ByteBuffer(capacity: 64)
        for value in key {
            switch value {
            case .null: buffer.append(UInt8(SQLITE_NULL))
            case .integer(let value): buffer.appendKey(SQLITE_INTEGER, UInt64(bitPattern: value))
            case .real(let value): buffer.appendKey(SQLITE_FLOAT, value.bitPattern)
            case .text(var value): value.withUTF8 { buffer.appendKey(SQLITE_TEXT, UnsafeRawBufferPointer($0)) }
            case .blob(let value): value.withUnsafeBytes { buffer.appendKey(SQLITE_BLOB, $0) }
            }
        }
        return [UInt8](buffer.bytes)
    }

    package static func encode(_ key: [ExactValue]) -> [UInt8] {
        var buffer = ByteBuffer(capacity: 64)
        for value in key {
            switch value {
            case .null: buffer.append(UInt8(SQLITE_NULL))
            case .integer(let value): buffer.appendKey(SQLITE_INTEGER, UInt64(bitPattern: value))
            case .real(let bits): buffer.appendKey(SQLITE_FLOAT, bits)
            case .text(let bytes): bytes.withUnsafeBytes { buffer.appendKey(SQLITE_TEXT, $0) }
            case .blob(let bytes): bytes.withUnsafeBytes { buffer.appendKey(SQLITE_BLOB, $0) }
            }
        }
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
    /// A part of a key that is a number.
    fileprivate mutating func appendKey(_ type: Int32, _ bits: UInt64) {
        append(UInt8(type))
        append(fixed: bits)
    }

    /// A part of a key that is a text or a blob.
    fileprivate mutating func appendKey(_ type: Int32, _ bytes: UnsafeRawBufferPointer) {
        append(UInt8(type))
        append(varint: UInt64(bytes.count))
        append(bytes)
    }
}

extension ByteReader {
    /// Bytes after their count.
    mutating func bytes() -> [UInt8] {
        let slice = slice()
        return Array(UnsafeBufferPointer(start: slice.next, count: slice.remaining))
    }
}
