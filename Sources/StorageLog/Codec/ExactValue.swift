package import CSQLite
internal import Foundation
package import StorageCore

/// A value exactly as an event holds it, copied from the run: text by its bytes, which needn't be valid UTF-8, and reals by their
/// bits.
package enum ExactValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(UInt64)
    case text([UInt8])
    case blob([UInt8])

    /// The value as a Swift value. Invalid UTF-8 in a text is repaired.
    package var value: StorageValue {
        switch self {
        case .null: .null
        case .integer(let value): .integer(value)
        case .real(let bits): .real(Double(bitPattern: bits))
        case .text(let bytes): .text(String(decoding: bytes, as: UTF8.self))
        case .blob(let bytes): .blob(Data(bytes))
        }
    }

    package init(_ value: StorageValue) {
        switch value {
        case .null: self = .null
        case .integer(let value): self = .integer(value)
        case .real(let value): self = .real(value.bitPattern)
        case .text(let value): self = .text(Array(value.utf8))
        case .blob(let value): self = .blob(Array(value))
        }
    }

    /// Whether one comes before another in SQLite's order.
    package static func isBefore(_ one: ExactValue, _ other: ExactValue) -> Bool {
        one.withRaw { one in other.withRaw { one.order(to: $0) < 0 } }
    }

    /// The approximate memory of the value beyond its own slot.
    var byteCount: Int {
        switch self {
        case .text(let bytes), .blob(let bytes): bytes.count + 32
        default: 0
        }
    }
}

extension ExactValue {
    /// A copy of a value.
    ///
    /// - Parameter bytes: The memory that the value's `bits` are an offset into, as in events; nil if they are an address.
    package init(_ raw: storage_value, bytes: UnsafePointer<UInt8>?) {
        switch Int32(raw.type) {
        case SQLITE_INTEGER: self = .integer(Int64(bitPattern: raw.bits))
        case SQLITE_FLOAT: self = .real(raw.bits)
        case SQLITE_TEXT: self = .text(Array(raw.bytes(from: bytes)))
        case SQLITE_BLOB: self = .blob(Array(raw.bytes(from: bytes)))
        default: self = .null
        }
    }

    /// Calls `body` with the value in SQLite's form. Texts and blobs are addresses, valid until it returns.
    func withRaw<Result>(_ body: (storage_value) throws -> Result) rethrows -> Result {
        switch self {
        case .null: try body(.null)
        case .integer(let value): try body(storage_value(integer: value))
        case .real(let bits): try body(storage_value(type: UInt32(SQLITE_FLOAT), size: 0, bits: bits))
        case .text(let bytes):
            try bytes.withUnsafeBytes { try body(storage_value(type: SQLITE_TEXT, borrowing: $0)) }
        case .blob(let bytes):
            try bytes.withUnsafeBytes { try body(storage_value(type: SQLITE_BLOB, borrowing: $0)) }
        }
    }

    /// A column of a statement's current row.
    package init(_ row: PreparedStatement, column: Int32) {
        self.init(storage_value(borrowing: row.row, column: column), bytes: nil)
    }

    package func bind(to statement: PreparedStatement, at index: Int32) {
        switch self {
        case .null: statement.bindNull(at: index)
        case .integer(let value): statement.bind(value, at: index)
        case .real(let bits): sqlite3_bind_double(statement.pointer, index, Double(bitPattern: bits))
        case .text(let bytes):
            _ = bytes.withUnsafeBytes {
                storage_bind_text(
                    statement.pointer, index, $0.baseAddress ?? UnsafeRawPointer(bitPattern: 1)!, $0.count)
            }
        case .blob(let bytes): statement.bind(blob: bytes, at: index)
        }
    }
}
