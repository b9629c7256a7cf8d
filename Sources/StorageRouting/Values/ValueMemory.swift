package import CSQLite
internal import Foundation
package import StorageCore
package import StorageLog

/// Memory for the bytes of values, released all at once. Values here have the address of their bytes, not an offset, so
/// that one row can combine values of different origins.
///
/// Isolation: not `Sendable`; one owner uses it.
package final class ValueMemory {
    private var chunks: [UnsafeMutablePointer<UInt8>] = []
    private var next: UnsafeMutablePointer<UInt8>?
    private var room = 0

    package init() {}

    deinit { removeAll() }

    /// Takes all values away that were kept here.
    func removeAll() {
        for chunk in chunks { chunk.deallocate() }
        chunks.removeAll(keepingCapacity: true)
        next = nil
        room = 0
    }

    private func allocate(_ size: Int) -> UnsafeMutablePointer<UInt8> {
        if let next, size <= room {
            self.next = next + size
            room -= size
            return next
        }
        let capacity = max(size, 4_096)
        let chunk = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        chunks.append(chunk)
        next = chunk + size
        room = capacity - size
        return chunk
    }

    func keep(_ type: Int32, _ bytes: UnsafeRawBufferPointer) -> storage_value {
        let address = allocate(bytes.count)
        UnsafeMutableRawBufferPointer(start: address, count: bytes.count).copyMemory(from: bytes)
        return storage_value(
            type: type, borrowing: UnsafeRawBufferPointer(start: address, count: bytes.count))
    }

    package func keep(_ value: StorageValue) -> storage_value { value.withRaw { keep($0) } }

    /// A copy of a value whose bytes are an address.
    private func keep(_ value: storage_value) -> storage_value {
        value.hasBytes ? keep(Int32(value.type), value.addressed) : value
    }

    /// A column of a statement's current row.
    package func keep(_ row: RowReader, _ column: Int32) -> storage_value {
        keep(storage_value(borrowing: row, column: column))
    }
}

extension storage_value {
    /// An unknown value of a row.
    static var unknown: storage_value { storage_value(type: 0, size: 0, bits: 0) }

    @inline(__always)
    package var isUnknown: Bool { type == 0 }
}
