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
