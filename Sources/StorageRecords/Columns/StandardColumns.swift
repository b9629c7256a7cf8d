public import Foundation
public import StorageCore

extension StorageError {
    fileprivate static func unexpected<Value>(_ value: StorageValue, _ type: Value.Type) -> StorageError {
        StorageError(
            .invalidValue, "\(value) isn't a \(type).",
            remedy: "Correct the row with SQL, or change the property's type.")
    }
}

extension String: StorageColumnValue {
    /// The declared SQL type of its columns.
    public static var columnType: String { "TEXT" }
    /// The value in its storage class.
    public var storageValue: StorageValue { .text(self) }
    /// Creates the value from that of a column.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a column that contains something else.
    public init(storageValue: StorageValue) throws {
        guard case .text(let value) = storageValue else { throw StorageError.unexpected(storageValue, String.self) }
        self = value
    }
    /// Binds the value to a placeholder.
    public func write(to row: RowWriter, at index: Int32) { row.bind(self, at: index) }
    /// Reads the value from a column, counted from 0.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a column that contains something else.
    public static func read(from row: RowReader, at index: Int32) throws -> String { try row.text(at: index) }
}

extension Int64: StorageColumnValue {
    /// The declared SQL type of its columns.
    public static var columnType: String { "INTEGER" }
    /// The value in its storage class.
    public var storageValue: StorageValue { .integer(self) }
    /// Creates the value from that of a column.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a column that contains something else.
    public init(storageValue: StorageValue) throws {
        guard case .integer(let value) = storageValue else { throw StorageError.unexpected(storageValue, Int64.self) }
        self = value
    }
    /// Binds the value to a placeholder.
    public func write(to row: RowWriter, at index: Int32) { row.bind(self, at: index) }
    /// Reads the value from a column, counted from 0.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a column that contains something else.
    public static func read(from row: RowReader, at index: Int32) throws -> Int64 { try row.integer(at: index) }
}

/// Integers that fit Int64 are stored as such.
extension StorageColumnValue where Self: FixedWidthInteger & SignedInteger {
    /// The declared SQL type of its columns.
    public static var columnType: String { "INTEGER" }
    /// The value in its storage class.
    public var storageValue: StorageValue { .integer(Int64(self)) }
    /// Creates the value from that of a column.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a column that contains something else.
    public init(storageValue: StorageValue) throws {
        guard case .integer(let value) = storageValue, let exact = Self(exactly: value) else {
            throw StorageError.unexpected(storageValue, Self.self)
        }
        self = exact
    }
    /// Binds the value to a placeholder.
    public func write(to row: RowWriter, at index: Int32) { row.bind(Int64(self), at: index) }
    /// Reads the value from a column, counted from 0.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a column that contains something else.
    public static func read(from row: RowReader, at index: Int32) throws -> Self {
        let value = try row.integer(at: index)
        guard let exact = Self(exactly: value) else { throw StorageError.unexpected(.integer(value), Self.self) }
        return exact
    }
}

extension Int: StorageColumnValue {}
extension Int8: StorageColumnValue {}
extension Int16: StorageColumnValue {}
extension Int32: StorageColumnValue {}

/// Unsigned integers are stored as Int64, and refused above its range.
extension StorageColumnValue where Self: FixedWidthInteger & UnsignedInteger {
    /// The declared SQL type of its columns.
    public static var columnType: String { "INTEGER" }
    /// The value in its storage class; a value above its range as text, which compares as the number in conditions, and which
    /// no column stores.
    public var storageValue: StorageValue { Int64(exactly: self).map(StorageValue.integer) ?? .text(String(self)) }
    /// Creates the value from that of a column.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a column that contains something else.
    public init(storageValue: StorageValue) throws {
        guard case .integer(let value) = storageValue, let exact = Self(exactly: value) else {
            throw StorageError.unexpected(storageValue, Self.self)
        }
        self = exact
    }
    /// Binds the value to a placeholder.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a value that SQLite can't store.
    public func write(to row: RowWriter, at index: Int32) throws {
        guard let value = Int64(exactly: self) else { throw StorageError.tooLarge(String(self)) }
        row.bind(value, at: index)
    }
}

extension UInt: StorageColumnValue {}
extension UInt8: StorageColumnValue {}
extension UInt16: StorageColumnValue {}
extension UInt32: StorageColumnValue {}
extension UInt64: StorageColumnValue {}

extension Bool: StorageColumnValue {
    /// The declared SQL type of its columns.
    public static var columnType: String { "BOOLEAN" }
    /// The value in its storage class.
    public var storageValue: StorageValue { .integer(self ? 1 : 0) }
    /// Creates the value from that of a column.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a column that contains something else.
    public init(storageValue: StorageValue) throws {
        switch storageValue {
        case .integer(0): self = false
        case .integer(1): self = true
        default: throw StorageError.unexpected(storageValue, Bool.self)
        }
    }
    /// Binds the value to a placeholder.
    public func write(to row: RowWriter, at index: Int32) { row.bind(Int64(self ? 1 : 0), at: index) }
    /// Reads the value from a column, counted from 0.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a column that contains something else.
    public static func read(from row: RowReader, at index: Int32) throws -> Bool {
        switch try row.integer(at: index) {
        case 0: false
        case 1: true
        case let value: throw StorageError.unexpected(.integer(value), Bool.self)
        }
    }
}

extension Double: StorageColumnValue {
    /// The declared SQL type of its columns.
    public static var columnType: String { "REAL" }
    /// The value in its storage class.
    public var storageValue: StorageValue { .real(self) }
    /// Creates the value from that of a column.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a column that contains something else.
    public init(storageValue: StorageValue) throws {
        switch storageValue {
        case .real(let value): self = value
        case .integer(let value): self = Double(value)
        default: throw StorageError.unexpected(storageValue, Double.self)
        }
    }
    /// Binds the value to a placeholder.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a value that SQLite can't store.
    public func write(to row: RowWriter, at index: Int32) throws { try row.bind(self, at: index) }
    /// Reads the value from a column, counted from 0.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a column that contains something else.
    public static func read(from row: RowReader, at index: Int32) throws -> Double { try row.real(at: index) }
}

extension Float: StorageColumnValue {
    /// The declared SQL type of its columns.
    public static var columnType: String { "REAL" }
    /// The value in its storage class.
    public var storageValue: StorageValue { .real(Double(self)) }
    /// Creates the value from that of a column.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a column that contains something else.
    public init(storageValue: StorageValue) throws { self = Float(try Double(storageValue: storageValue)) }
    /// Binds the value to a placeholder.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a value that SQLite can't store.
    public func write(to row: RowWriter, at index: Int32) throws { try row.bind(Double(self), at: index) }
    /// Reads the value from a column, counted from 0.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a column that contains something else.
    public static func read(from row: RowReader, at index: Int32) throws -> Float { Float(try row.real(at: index)) }
}

/// A date is stored as the text that SQLite and GRDB read and write, `2026-01-15 10:00:00.123` in UTC, with as many more digits
/// as needed to restore exactly the same date. A date outside of the years 0 to 9999, which that text can't represent, is
/// refused.
///
/// Texts that SQL has written are read in each form that GRDB reads, such as that of `CURRENT_TIMESTAMP`; but they are compared
/// as texts, so `2026-01-15 10:00:00` sorts before `2026-01-15 10:00:00.000`. Numbers aren't dates.
extension Date: StorageColumnValue {
    /// The declared SQL type of its columns.
    public static var columnType: String { "DATETIME" }
    /// The date's text; for a date without one NaN, which can't be stored or used in a condition.
    public var storageValue: StorageValue {
        DateText.text(of: timeIntervalSinceReferenceDate).map { .text($0) } ?? .real(.nan)
    }
    /// Creates the value from that of a column.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a column that contains something else.
    public init(storageValue: StorageValue) throws {
        guard case .text(let text) = storageValue, let seconds = DateText.seconds(text) else {
            throw StorageError.unexpected(storageValue, Date.self)
        }
        self = Date(timeIntervalSinceReferenceDate: seconds)
    }
    /// Binds the value to a placeholder.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a value that SQLite can't store.
    public func write(to row: RowWriter, at index: Int32) throws {
        guard DateText.withText(of: timeIntervalSinceReferenceDate, { row.bind(text: $0, at: index) }) != nil else {
            throw StorageError.notStorable("A date outside of the years 0 to 9999", parameter: index)
        }
    }
    /// Reads the value from a column, counted from 0.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a column that contains something else.
    public static func read(from row: RowReader, at index: Int32) throws -> Date {
        Date(timeIntervalSinceReferenceDate: try row.date(at: index))
    }
}

extension Data: StorageColumnValue {
    /// The declared SQL type of its columns.
    public static var columnType: String { "BLOB" }
    /// The value in its storage class.
    public var storageValue: StorageValue { .blob(self) }
    /// Creates the value from that of a column.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a column that contains something else.
    public init(storageValue: StorageValue) throws {
        guard case .blob(let value) = storageValue else { throw StorageError.unexpected(storageValue, Data.self) }
        self = value
    }
    /// Binds the value to a placeholder.
    public func write(to row: RowWriter, at index: Int32) { row.bind(self, at: index) }
    /// Reads the value from a column, counted from 0.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a column that contains something else.
    public static func read(from row: RowReader, at index: Int32) throws -> Data { try row.blob(at: index) }
}

/// A UUID is stored as its 16 bytes, as GRDB binds it. In SQL, `hex(column)` shows them.
extension UUID: StorageColumnValue {
    /// The declared SQL type of its columns.
    public static var columnType: String { "BLOB" }
    /// ``ColumnSchema/uuid``.
    public static var columnCoding: String { ColumnSchema.uuid }
    /// The value in its storage class.
    public var storageValue: StorageValue { .blob(withUnsafeBytes(of: uuid) { Data($0) }) }
    /// Creates the value from that of a column.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a column that contains something else.
    public init(storageValue: StorageValue) throws {
        guard case .blob(let bytes) = storageValue, let value = bytes.withUnsafeBytes({ UUID(bytes: $0) }) else {
            throw StorageError.unexpected(storageValue, UUID.self)
        }
        self = value
    }
    /// Binds the value to a placeholder.
    public func write(to row: RowWriter, at index: Int32) {
        withUnsafeBytes(of: uuid) { row.bind(blob: $0, at: index) }
    }
    /// Reads the value from a column, counted from 0.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a column that contains something else.
    public static func read(from row: RowReader, at index: Int32) throws -> UUID { try row.uuid(at: index) }

    init?(bytes: UnsafeRawBufferPointer) {
        guard bytes.count == MemoryLayout<uuid_t>.size else { return nil }
        self.init(uuid: bytes.loadUnaligned(as: uuid_t.self))
    }
}

extension URL: StorageColumnValue {
    /// The declared SQL type of its columns.
    public static var columnType: String { "TEXT" }
    /// The value in its storage class.
    public var storageValue: StorageValue { .text(absoluteString) }
    /// Creates the value from that of a column.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a column that contains something else.
    public init(storageValue: StorageValue) throws {
        guard case .text(let text) = storageValue, let value = URL(string: text) else {
            throw StorageError.unexpected(storageValue, URL.self)
        }
        self = value
    }
}

extension Optional: StorageColumnValue where Wrapped: StorageColumnValue {
    /// The declared SQL type of its columns.
    @inlinable public static var columnType: String { Wrapped.columnType }
    @inlinable public static var columnCoding: String { Wrapped.columnCoding }
    @inlinable public static var isNullable: Bool { true }
    /// The value in its storage class.
    public var storageValue: StorageValue { self?.storageValue ?? .null }
    /// Creates the value from that of a column.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a column that contains something else.
    public init(storageValue: StorageValue) throws {
        self = storageValue == .null ? nil : try Wrapped(storageValue: storageValue)
    }
    /// Binds the value to a placeholder.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a value that SQLite can't store.
    @inlinable public func write(to row: RowWriter, at index: Int32) throws {
        if let self { try self.write(to: row, at: index) } else { row.bindNull(at: index) }
    }
    /// Reads the value from a column, counted from 0.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a column that contains something else.
    @inlinable public static func read(from row: RowReader, at index: Int32) throws -> Wrapped? {
        row.isNull(at: index) ? nil : try Wrapped.read(from: row, at: index)
    }
}
