// Public, because code that is inlined into other modules names it.
public import CSQLite
public import Foundation
public import StorageCore

// The only conversion between SQLite's storage classes and values. Code that treats the classes differently (an order of values,
// a sum, the encoding of a column) switches over `type` itself.

extension storage_value {
    @inlinable
    package static var null: storage_value { storage_value(type: UInt32(SQLITE_NULL), size: 0, bits: 0) }

    @inlinable @inline(__always)
    package init(integer: Int64) {
        self.init(type: UInt32(SQLITE_INTEGER), size: 0, bits: UInt64(bitPattern: integer))
    }

    @inlinable @inline(__always)
    package init(real: Double) { self.init(type: UInt32(SQLITE_FLOAT), size: 0, bits: real.bitPattern) }

    /// A text or a blob by its address, without a copy.
    ///
    /// - Parameter type: `SQLITE_TEXT` or `SQLITE_BLOB`.
    @inlinable @inline(__always)
    package init(type: Int32, borrowing bytes: UnsafeRawBufferPointer) {
        self.init(
            type: UInt32(type), size: UInt32(bytes.count), bits: UInt64(UInt(bitPattern: bytes.baseAddress)))
    }

    /// A column of a statement's current row. Texts and blobs are addresses, valid until the next step.
    @inlinable @inline(__always)
    package init(borrowing row: RowReader, column: Int32) {
        let statement = row.statement
        let type = sqlite3_column_type(statement, column)
        switch type {
        case SQLITE_INTEGER: self.init(integer: sqlite3_column_int64(statement, column))
        case SQLITE_FLOAT: self.init(real: sqlite3_column_double(statement, column))
        case SQLITE_TEXT, SQLITE_BLOB:
            let start =
                type == SQLITE_TEXT
                ? UnsafeRawPointer(sqlite3_column_text(statement, column)) : sqlite3_column_blob(statement, column)
            let count = start == nil ? 0 : Int(sqlite3_column_bytes(statement, column))
            self.init(type: type, borrowing: UnsafeRawBufferPointer(start: start, count: count))
        default: self = .null
        }
    }

    /// A value that SQLite passes to a hook or a function. Texts and blobs are addresses, valid until that returns.
    ///
    /// - Parameter value: A `sqlite3_value *`.
    @inlinable @inline(__always)
    package init(borrowing value: OpaquePointer) {
        let type = sqlite3_value_type(value)
        switch type {
        case SQLITE_INTEGER: self.init(integer: sqlite3_value_int64(value))
        case SQLITE_FLOAT: self.init(real: sqlite3_value_double(value))
        case SQLITE_TEXT, SQLITE_BLOB:
            let start =
                type == SQLITE_TEXT ? UnsafeRawPointer(sqlite3_value_text(value)) : sqlite3_value_blob(value)
            let count = start == nil ? 0 : Int(sqlite3_value_bytes(value))
            self.init(type: type, borrowing: UnsafeRawBufferPointer(start: start, count: count))
        default: self = .null
        }
    }
}

extension storage_value {
    @inlinable @inline(__always)
    package var isNull: Bool { type == UInt32(SQLITE_NULL) }

    /// Whether it is a text or a blob.
    @inlinable @inline(__always)
    package var hasBytes: Bool { type == UInt32(SQLITE_TEXT) || type == UInt32(SQLITE_BLOB) }

    /// The bytes of a text or a blob.
    ///
    /// - Parameter base: The memory that `bits` is an offset into, as in events; nil if it is the address itself.
    @inlinable @inline(__always)
    package func bytes(from base: UnsafePointer<UInt8>?) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            start: UnsafeRawPointer(bitPattern: UInt(bitPattern: base) &+ UInt(bits)), count: Int(size))
    }

    /// The bytes of a text or blob whose `bits` are an address.
    @inlinable @inline(__always)
    package var addressed: UnsafeRawBufferPointer { bytes(from: nil) }

    /// Whether two values are equal byte for byte.
    ///
    /// - Parameters:
    ///   - base: The memory that this value's `bits` are an offset into; nil if they are an address.
    ///   - otherBase: The same for the other value.
    @inlinable @inline(__always)
    package func isSame(
        as other: storage_value, from base: UnsafePointer<UInt8>? = nil,
        otherFrom otherBase: UnsafePointer<UInt8>? = nil
    ) -> Bool {
        guard type == other.type else { return false }
        guard hasBytes else { return bits == other.bits || isNull }
        guard size == other.size else { return false }
        let (left, right) = (bytes(from: base), other.bytes(from: otherBase))
        // A non-empty run of bytes has an address.
        return size == 0 || left.baseAddress == right.baseAddress
            || memcmp(left.baseAddress!, right.baseAddress!, Int(size)) == 0
    }

    /// The value as a Swift value, copied. Invalid UTF-8 in a text is repaired.
    ///
    /// - Parameter base: The memory that `bits` is an offset into; nil if it is an address.
    @inlinable @inline(__always)
    package func value(from base: UnsafePointer<UInt8>? = nil) -> StorageValue {
        switch Int32(type) {
        case SQLITE_INTEGER: .integer(Int64(bitPattern: bits))
        case SQLITE_FLOAT: .real(Double(bitPattern: bits))
        case SQLITE_TEXT: .text(String(decoding: bytes(from: base), as: UTF8.self))
        case SQLITE_BLOB: .blob(Data(bytes(from: base)))
        default: .null
        }
    }

    /// Binds the value. Its bytes aren't copied: they must stay alive and unchanged until the statement is reset.
    ///
    /// - Parameter base: The memory that `bits` is an offset into; nil if it is an address.
    @inlinable @inline(__always)
    package func bind(to parameters: RowWriter, at index: Int32, from base: UnsafePointer<UInt8>? = nil) {
        let statement = parameters.statement
        switch Int32(type) {
        case SQLITE_INTEGER: sqlite3_bind_int64(statement, index, Int64(bitPattern: bits))
        case SQLITE_FLOAT: sqlite3_bind_double(statement, index, Double(bitPattern: bits))
        case SQLITE_TEXT: storage_bind_text_borrowed(statement, index, bytes(from: base).baseAddress, Int(size))
        case SQLITE_BLOB: storage_bind_blob_borrowed(statement, index, bytes(from: base).baseAddress, Int(size))
        default: sqlite3_bind_null(statement, index)
        }
    }
}

extension StorageValue {
    /// Calls `body` with the value in SQLite's form. Texts and blobs are addresses, valid until it returns.
    @inlinable
    package func withRaw<Result>(_ body: (storage_value) throws -> Result) rethrows -> Result {
        switch self {
        case .null: return try body(.null)
        case .integer(let value): return try body(storage_value(integer: value))
        case .real(let value): return try body(storage_value(real: value))
        case .text(var value):
            return try value.withUTF8 {
                try body(storage_value(type: SQLITE_TEXT, borrowing: UnsafeRawBufferPointer($0)))
            }
        case .blob(let value):
            return try value.withUnsafeBytes { try body(storage_value(type: SQLITE_BLOB, borrowing: $0)) }
        }
    }
}
