internal import CSQLite
public import Foundation
public import StorageCore

/// The columns of a statement's current row, read by index without intermediate values.
///
/// Not `Sendable`: it lives on the connection's thread for the length of one call.
public struct RowReader {
    @usableFromInline package let statement: OpaquePointer

    package init(statement: OpaquePointer) { self.statement = statement }

    /// Returns whether a column, counted from 0, is NULL.
    public func isNull(at index: Int32) -> Bool {
        sqlite3_column_type(statement, index) == SQLITE_NULL
    }

    /// - Throws: `invalidValue` if the column holds anything but an integer.
    public func integer(at index: Int32) throws -> Int64 {
        guard sqlite3_column_type(statement, index) == SQLITE_INTEGER else { throw mismatch("an integer", at: index) }
        return sqlite3_column_int64(statement, index)
    }

    /// Reads a real, or an integer as a real.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a column that contains something else.
    public func real(at index: Int32) throws -> Double {
        let type = sqlite3_column_type(statement, index)
        guard type == SQLITE_FLOAT || type == SQLITE_INTEGER else { throw mismatch("a number", at: index) }
        return sqlite3_column_double(statement, index)
    }

    /// - Throws: `invalidValue` if the column holds anything but valid UTF-8 text.
    public func text(at index: Int32) throws -> String {
        // Read as a C string, which the standard library validates and copies in one pass; a NUL inside shows by the count.
        guard sqlite3_column_type(statement, index) == SQLITE_TEXT, let bytes = sqlite3_column_text(statement, index),
            let text = String(validatingCString: UnsafeRawPointer(bytes).assumingMemoryBound(to: CChar.self)),
            text.utf8.count == Int(sqlite3_column_bytes(statement, index))
        else { throw mismatch("valid UTF-8 text", at: index) }
        return text
    }

    /// Returns the value of a column, counted from 0.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a column that contains something else.
    public func blob(at index: Int32) throws -> Data {
        guard sqlite3_column_type(statement, index) == SQLITE_BLOB else { throw mismatch("a blob", at: index) }
        let count = Int(sqlite3_column_bytes(statement, index))
        guard count > 0, let bytes = sqlite3_column_blob(statement, index) else { return Data() }
        return Data(bytes: bytes, count: count)
    }

    /// Reads a date as seconds since 2001-01-01 UTC.
    func date(at index: Int32) throws -> Double {
        guard sqlite3_column_type(statement, index) == SQLITE_TEXT, let bytes = sqlite3_column_text(statement, index),
            let seconds = DateText.seconds(
                UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(statement, index))))
        else { throw mismatch("a date such as \"2026-01-15 10:00:00.000\"", at: index) }
        return seconds
    }

    func uuid(at index: Int32) throws -> UUID {
        guard sqlite3_column_type(statement, index) == SQLITE_BLOB,
            let uuid = UUID(
                bytes: UnsafeRawBufferPointer(
                    start: sqlite3_column_blob(statement, index), count: Int(sqlite3_column_bytes(statement, index))))
        else { throw mismatch("the 16 bytes of a UUID", at: index) }
        return uuid
    }

    /// The value in its storage class. Invalid UTF-8 in a text is repaired; use ``text(at:)`` to refuse it.
    public func value(at index: Int32) -> StorageValue {
        storage_value(borrowing: self, column: index).value()
    }

    @usableFromInline func mismatch(_ expected: String, at index: Int32) -> StorageError {
        let name = sqlite3_column_name(statement, index).map { String(cString: $0) } ?? "\(index)"
        return StorageError(
            .invalidValue, "Column \"\(name)\" holds \(value(at: index)) where \(expected) is declared.",
            remedy: "Correct the row with SQL, or change the property's type.")
    }
}

extension RowReader {
    /// Reads the value from a column, counted from 0.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a column that contains something else.
    @inlinable public func read<Value: StorageColumnValue>(_ type: Value.Type, at index: Int32) throws -> Value {
        try Value.read(from: self, at: index)
    }

    /// Reads the value from a column, counted from 0.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a column that contains something else.
    @inlinable public func read<Value: RawRepresentable>(_ type: Value.Type, at index: Int32) throws -> Value
    where Value.RawValue: StorageColumnValue {
        let raw = try Value.RawValue.read(from: self, at: index)
        guard let value = Value(rawValue: raw) else { throw mismatch("a case of \(Value.self)", at: index) }
        return value
    }

    /// Reads the value from a column, counted from 0.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a column that contains something else.
    @inlinable public func read<Value: RawRepresentable>(_ type: Value?.Type, at index: Int32) throws -> Value?
    where Value.RawValue: StorageColumnValue {
        if isNull(at: index) { return nil }
        return try read(Value.self, at: index)
    }

    /// Reads the value from a column, counted from 0.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a column that contains something else.
    @inlinable
    public func read<Value: RawRepresentable & StorageColumnValue>(_ type: Value.Type, at index: Int32) throws -> Value
    where Value.RawValue: StorageColumnValue {
        try Value.read(from: self, at: index)
    }

    /// Reads the value from a column, counted from 0.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a column that contains something else.
    @inlinable
    public func read<Value: RawRepresentable & StorageColumnValue>(_ type: Value?.Type, at index: Int32) throws
        -> Value?
    where Value.RawValue: StorageColumnValue {
        if isNull(at: index) { return nil }
        return try Value.read(from: self, at: index)
    }
}
