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
            switch Int32(value.type) {
            case SQLITE_INTEGER, SQLITE_FLOAT: buffer.append(fixed: value.bits)
            case SQLITE_TEXT, SQLITE_BLOB:
                buffer.append(varint: UInt64(value.size))
                buffer.append(bytes + Int(value.bits), count: Int(value.size))
            default: break
            }
        }
        return [UInt8](buffer.bytes)
    }

    package static func encode(_ key: [StorageValue]) -> [UInt8] {
        var buffer = ByteBuffer(capacity: 64)
        for value in key {
            switch value {
            case .null: buffer.append(UInt8(SQLITE_NULL))
            case .integer(let value):
                buffer.append(UInt8(SQLITE_INTEGER))
                buffer.append(fixed: UInt64(bitPattern: value))
            case .real(let value):
                buffer.append(UInt8(SQLITE_FLOAT))
                buffer.append(fixed: value.bitPattern)
            case .text(let value):
                buffer.append(UInt8(SQLITE_TEXT))
                buffer.append(string: value)
            case .blob(let value):
                buffer.append(UInt8(SQLITE_BLOB))
                buffer.append(varint: UInt64(value.count))
                value.withUnsafeBytes { buffer.append($0) }
            }
        }
        return [UInt8](buffer.bytes)
    }
}

extension KeyCoding {
    package static func encode(_ key: [ExactValue]) -> [UInt8] {
        var buffer = ByteBuffer(capacity: 64)
        for value in key {
            switch value {
            case .null: buffer.append(UInt8(SQLITE_NULL))
            case .integer(let value):
                buffer.append(UInt8(SQLITE_INTEGER))
                buffer.append(fixed: UInt64(bitPattern: value))
            case .real(let bits):
                buffer.append(UInt8(SQLITE_FLOAT))
                buffer.append(fixed: bits)
            case .text(let bytes), .blob(let bytes):
                if case .text = value { buffer.append(UInt8(SQLITE_TEXT)) } else { buffer.append(UInt8(SQLITE_BLOB)) }
                buffer.append(varint: UInt64(bytes.count))
                bytes.withUnsafeBytes { buffer.append($0) }
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

extension ByteReader {
    /// Bytes after their count.
    mutating func bytes() -> [UInt8] {
        let slice = slice()
        return Array(UnsafeBufferPointer(start: slice.next, count: slice.remaining))
    }
}
