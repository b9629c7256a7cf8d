package import CSQLite
internal import Foundation
package import StorageCore
package import StorageLog

/// Memory for the bytes of values, given back all at once. Values here hold the address of their bytes, not an offset,
/// so that values from several places can stand in one row.
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
        return storage_value(type: UInt32(type), size: UInt32(bytes.count), bits: UInt64(UInt(bitPattern: address)))
    }

    package func keep(_ value: StorageValue) -> storage_value {
        switch value {
        case .null: return storage_value(type: UInt32(SQLITE_NULL), size: 0, bits: 0)
        case .integer(let value):
            return storage_value(type: UInt32(SQLITE_INTEGER), size: 0, bits: UInt64(bitPattern: value))
        case .real(let value): return storage_value(type: UInt32(SQLITE_FLOAT), size: 0, bits: value.bitPattern)
        case .text(var value): return value.withUTF8 { keep(SQLITE_TEXT, UnsafeRawBufferPointer($0)) }
        case .blob(let value): return value.withUnsafeBytes { keep(SQLITE_BLOB, $0) }
        }
    }

    /// A column of a statement's current row.
    package func keep(_ row: RowReader, _ column: Int32) -> storage_value {
        let statement = row.statement
        let type = sqlite3_column_type(statement, column)
        switch type {
        case SQLITE_INTEGER:
            return storage_value(
                type: UInt32(type), size: 0, bits: UInt64(bitPattern: sqlite3_column_int64(statement, column)))
        case SQLITE_FLOAT:
            return storage_value(
                type: UInt32(type), size: 0, bits: sqlite3_column_double(statement, column).bitPattern)
        case SQLITE_TEXT, SQLITE_BLOB:
            let start =
                type == SQLITE_TEXT
                ? UnsafeRawPointer(sqlite3_column_text(statement, column)) : sqlite3_column_blob(statement, column)
            let count = Int(sqlite3_column_bytes(statement, column))
            return keep(type, UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count))
        default: return storage_value(type: UInt32(SQLITE_NULL), size: 0, bits: 0)
        }
    }
}

extension storage_value {
    /// The bytes of a text or blob whose `bits` are an address.
    @inline(__always)
    package var addressed: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: UInt(bits)), count: Int(size))
    }

    @inline(__always)
    var hasBytes: Bool { type == UInt32(SQLITE_TEXT) || type == UInt32(SQLITE_BLOB) }

    /// A place of a row that nothing is known of.
    static var unknown: storage_value { storage_value(type: 0, size: 0, bits: 0) }

    @inline(__always)
    package var isUnknown: Bool { type == 0 }

    /// Whether two values are the same to the byte.
    package func isSame(as other: storage_value) -> Bool {
        guard type == other.type else { return false }
        guard hasBytes else { return bits == other.bits }
        return size == other.size
            && (size == 0 || memcmp(addressed.baseAddress!, other.addressed.baseAddress!, Int(size)) == 0)
    }

    /// The value as Swift knows it.
    package var value: StorageValue {
        switch Int32(type) {
        case SQLITE_INTEGER: .integer(Int64(bitPattern: bits))
        case SQLITE_FLOAT: .real(Double(bitPattern: bits))
        case SQLITE_TEXT: .text(String(decoding: addressed, as: UTF8.self))
        case SQLITE_BLOB: .blob(Data(addressed))
        default: .null
        }
    }
}

extension storage_value {
    /// Binds a value whose `bits` are an address, if it has bytes; they must stay until the statement is reset.
    package func bindAddressed(to parameters: RowWriter, at index: Int32) {
        let statement = parameters.statement
        switch Int32(type) {
        case SQLITE_INTEGER: sqlite3_bind_int64(statement, index, Int64(bitPattern: bits))
        case SQLITE_FLOAT: sqlite3_bind_double(statement, index, Double(bitPattern: bits))
        case SQLITE_TEXT: storage_bind_text_borrowed(statement, index, addressed.baseAddress, addressed.count)
        case SQLITE_BLOB: storage_bind_blob_borrowed(statement, index, addressed.baseAddress, addressed.count)
        default: sqlite3_bind_null(statement, index)
        }
    }
}
