import CSQLite
import Foundation
import StorageCore
import StorageLog

/// A value byte for byte, so that nothing is compared after a conversion.
enum Cell: Hashable, CustomStringConvertible {
    case null
    case integer(Int64)
    case real(UInt64)
    case text([UInt8])
    case blob([UInt8])

    init(_ statement: OpaquePointer, _ column: Int32) {
        func bytes(_ start: UnsafeRawPointer?) -> [UInt8] {
            Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column))))
        }
        switch sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: self = .integer(sqlite3_column_int64(statement, column))
        case SQLITE_FLOAT: self = .real(sqlite3_column_double(statement, column).bitPattern)
        case SQLITE_TEXT: self = .text(bytes(sqlite3_column_text(statement, column)))
        case SQLITE_BLOB: self = .blob(bytes(sqlite3_column_blob(statement, column)))
        default: self = .null
        }
    }

    init(_ value: storage_value, _ bytes: UnsafePointer<UInt8>) {
        func content() -> [UInt8] {
            Array(UnsafeBufferPointer(start: bytes + Int(value.bits), count: Int(value.size)))
        }
        switch Int32(value.type) {
        case SQLITE_INTEGER: self = .integer(Int64(bitPattern: value.bits))
        case SQLITE_FLOAT: self = .real(value.bits)
        case SQLITE_TEXT: self = .text(content())
        case SQLITE_BLOB: self = .blob(content())
        default: self = .null
        }
    }

    init(_ value: StorageValue) {
        switch value {
        case .null: self = .null
        case .integer(let value): self = .integer(value)
        case .real(let value): self = .real(value.bitPattern)
        case .text(let value): self = .text(Array(value.utf8))
        case .blob(let value): self = .blob([UInt8](value))
        }
    }

    var description: String {
        switch self {
        case .null: "NULL"
        case .integer(let value): "\(value)"
        case .real(let bits): "\(Double(bitPattern: bits))r"
        case .text(let bytes): "text\(bytes.count > 40 ? "(\(bytes.count))" : "\(bytes)")"
        case .blob(let bytes): "blob\(bytes.count > 40 ? "(\(bytes.count))" : "\(bytes)")"
        }
    }
}
