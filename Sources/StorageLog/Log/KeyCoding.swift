package import CSQLite
internal import Foundation
package import StorageCore

/// A primary key as bytes: equal keys have equal bytes, whatever their values.
package enum KeyCoding {
    package static func encode(_ key: UnsafePointer<storage_value>, count: Int, bytes: UnsafePointer<UInt8>) -> [UInt8]
    {
        var buffer = ByteBuffer(capacity: 64)
        for index in 0..<count { buffer.append(value: key[index], from: bytes) }
        return [UInt8](buffer.bytes)
    }

    package static func encode(_ key: [StorageValue]) -> [UInt8] {
        var buffer = ByteBuffer(capacity: 64)
        for value in key { value.withRaw { buffer.append(value: $0, from: nil) } }
        return [UInt8](buffer.bytes)
    }

    package static func encode(_ key: [ExactValue]) -> [UInt8] {
        var buffer = ByteBuffer(capacity: 64)
        for value in key { buffer.append(value: value) }
        return [UInt8](buffer.bytes)
    }

    /// Encodes a key so that 5 and 5.0 have equal bytes: SQL finds the same row by either.
    package static func encodeNumerically(_ key: [StorageValue]) -> [UInt8] {
        let numbers: [StorageValue] = key.map { value in
            guard case .real(let number) = value, let whole = Int64(exactly: number) else { return value }
            return .integer(whole)
        }
        return encode(numbers)
    }

    package static func encodeNumerically(
        _ key: UnsafePointer<storage_value>, count: Int, bytes: UnsafePointer<UInt8>
    ) -> [UInt8] {
        var buffer = ByteBuffer(capacity: 64)
        for index in 0..<count {
            var value = key[index]
            if value.type == UInt32(SQLITE_FLOAT), let whole = Int64(exactly: Double(bitPattern: value.bits)) {
                value = storage_value(integer: whole)
            }
            buffer.append(value: value, from: bytes)
        }
        return [UInt8](buffer.bytes)
    }

    /// The values of an encoded key.
    package static func decode(_ bytes: [UInt8]) throws -> [ExactValue] {
        try bytes.withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress else { return [] }
            var reader = ByteReader(start, count: bytes.count)
            var values: [ExactValue] = []
            while reader.remaining > 0, !reader.failed { values.append(reader.value()) }
            guard !reader.failed else { throw StorageError.corruptLog("a key is cut short") }
            return values
        }
    }
}
