internal import CSQLite
public import Foundation
public import StorageCore

/// The parameters of a prepared statement, filled by index without intermediate values.
///
/// Not `Sendable`: it lives on the connection's thread for the length of one call.
public struct RowWriter {
    @usableFromInline package let statement: OpaquePointer

    package init(statement: OpaquePointer) { self.statement = statement }

    /// Binds NULL to a placeholder, counted from 1.
    public func bindNull(at index: Int32) {
        sqlite3_bind_null(statement, index)
    }

    /// Binds a value to a placeholder, counted from 1.
    public func bind(_ value: Int64, at index: Int32) {
        sqlite3_bind_int64(statement, index, value)
    }

    /// - Throws: `invalidValue` for NaN, which SQLite would convert to NULL.
    public func bind(_ value: Double, at index: Int32) throws {
        if value.isNaN {
            throw StorageError.notStorable("NaN, or a date outside of the years 0 to 9999,", parameter: index)
        }
        sqlite3_bind_double(statement, index, value)
    }

    /// Text with a NUL character is refused when the change is captured, for every way of writing.
    public func bind(_ value: String, at index: Int32) {
        var value = value
        value.withUTF8 { bind(text: UnsafeRawBufferPointer($0), at: index) }
    }

    /// Binds a value to a placeholder, counted from 1.
    public func bind(_ value: Data, at index: Int32) {
        value.withUnsafeBytes { bind(blob: $0, at: index) }
    }

    /// - Parameter text: UTF-8.
    func bind(text: UnsafeRawBufferPointer, at index: Int32) {
        if let base = text.baseAddress {
            storage_bind_text(statement, index, base, text.count)
        } else {
            storage_bind_text_borrowed(statement, index, nil, 0)
        }
    }

    func bind(blob: UnsafeRawBufferPointer, at index: Int32) {
        if let base = blob.baseAddress, blob.count > 0 {
            storage_bind_blob(statement, index, base, blob.count)
        } else {
            sqlite3_bind_zeroblob(statement, index, 0)
        }
    }

    /// Binds a value to a placeholder, counted from 1.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a value that SQLite can't store.
    public func bind(_ value: StorageValue, at index: Int32) throws {
        switch value {
        case .null: bindNull(at: index)
        case .integer(let value): bind(value, at: index)
        case .real(let value): try bind(value, at: index)
        case .text(let value): bind(value, at: index)
        case .blob(let value): bind(value, at: index)
        }
    }
}

extension RowWriter {
    /// Binds a value to a placeholder, counted from 1.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a value that SQLite can't store.
    @inlinable public func write<Value: StorageColumnValue>(_ value: Value, at index: Int32) throws {
        try value.write(to: self, at: index)
    }

    /// Binds a value to a placeholder, counted from 1.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a value that SQLite can't store.
    @inlinable public func write<Value: RawRepresentable>(_ value: Value, at index: Int32) throws
    where Value.RawValue: StorageColumnValue {
        try value.rawValue.write(to: self, at: index)
    }

    /// Binds a value to a placeholder, counted from 1.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a value that SQLite can't store.
    @inlinable public func write<Value: RawRepresentable>(_ value: Value?, at index: Int32) throws
    where Value.RawValue: StorageColumnValue {
        if let value { try value.rawValue.write(to: self, at: index) } else { bindNull(at: index) }
    }

    /// Binds a value to a placeholder, counted from 1.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a value that SQLite can't store.
    @inlinable public func write<Value: RawRepresentable & StorageColumnValue>(_ value: Value, at index: Int32) throws
    where Value.RawValue: StorageColumnValue {
        try value.write(to: self, at: index)
    }

    /// Binds a value to a placeholder, counted from 1.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a value that SQLite can't store.
    @inlinable public func write<Value: RawRepresentable & StorageColumnValue>(_ value: Value?, at index: Int32) throws
    where Value.RawValue: StorageColumnValue {
        if let value { try value.write(to: self, at: index) } else { bindNull(at: index) }
    }
}

extension StorageError {
    /// - Parameter value: A readable description of the value.
    static func notStorable(_ value: String, parameter: Int32) -> StorageError {
        notStorable(value, in: "parameter \(parameter)")
    }

    /// The same error with the name of a column instead of the parameter's number.
    package func naming(_ columns: [ColumnSchema], of table: String) -> StorageError {
        let words = " in parameter "
        guard code == .invalidValue, let place = message.range(of: words) else { return self }
        let digits = message[place.upperBound...].prefix { $0.isNumber }
        guard let index = Int(digits), columns.indices.contains(index - 1) else { return self }
        let name = " in \"\(table).\(columns[index - 1].name)\""
        return StorageError(
            code, message.replacing(words + digits, with: name, maxReplacements: 1), remedy: remedy, cause: cause)
    }

    package static func notStorable(_ value: String, in location: String) -> StorageError {
        StorageError(
            .invalidValue,
            "\(value) can't be stored in \(location): SQLite has no NaN and would keep NULL, and its dates have four digits of a year.",
            remedy: "Store nil, or another value that stands for it.")
    }
}
