internal import Foundation
public import GRDB
public import StorageCore

/// The bridge from column values to GRDB's, for records that are used with GRDB directly;
/// what `@StorageEntity` writes calls these, and nothing else should.
public enum _ColumnCoding {
    @inlinable
    public static func encode<Value: StorageColumnValue>(
        _ value: Value, to container: inout GRDB.PersistenceContainer, _ column: String
    ) throws {
        try put(value._storable(), to: &container, column)
    }

    @inlinable
    public static func encode<Value: RawRepresentable>(
        _ value: Value, to container: inout GRDB.PersistenceContainer, _ column: String
    ) throws where Value.RawValue: StorageColumnValue {
        try put(value.rawValue._storable(), to: &container, column)
    }

    @inlinable
    public static func encode<Value: RawRepresentable>(
        _ value: Value?, to container: inout GRDB.PersistenceContainer, _ column: String
    ) throws where Value.RawValue: StorageColumnValue {
        try put(value?.rawValue._storable() ?? .null, to: &container, column)
    }

    @inlinable
    public static func encode<Value: RawRepresentable & StorageColumnValue>(
        _ value: Value, to container: inout GRDB.PersistenceContainer, _ column: String
    ) throws
    where Value.RawValue: StorageColumnValue {
        try put(value._storable(), to: &container, column)
    }

    @inlinable
    public static func encode<Value: RawRepresentable & StorageColumnValue>(
        _ value: Value?, to container: inout GRDB.PersistenceContainer, _ column: String
    ) throws
    where Value.RawValue: StorageColumnValue {
        try put(value?._storable() ?? .null, to: &container, column)
    }

    /// Reads a property from a row of GRDB.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a column that contains something else.
    @inlinable
    public static func decode<Value: StorageColumnValue>(
        _ type: Value.Type, from row: GRDB.Row, _ column: String
    ) throws -> Value {
        try Value(storageValue: storageValue(row, column))
    }

    /// Reads a property from a row of GRDB.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a column that contains something else.
    @inlinable
    public static func decode<Value: RawRepresentable>(
        _ type: Value.Type, from row: GRDB.Row, _ column: String
    ) throws -> Value where Value.RawValue: StorageColumnValue {
        let stored = try storageValue(row, column)
        guard let value = Value(rawValue: try Value.RawValue(storageValue: stored)) else {
            throw mismatch(stored, column: column)
        }
        return value
    }

    /// Reads a property from a row of GRDB.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a column that contains something else.
    @inlinable
    public static func decode<Value: RawRepresentable>(
        _ type: Value?.Type, from row: GRDB.Row, _ column: String
    ) throws -> Value? where Value.RawValue: StorageColumnValue {
        if try storageValue(row, column) == .null { return nil }
        return try decode(Value.self, from: row, column)
    }

    /// Reads a property from a row of GRDB.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a column that contains something else.
    @inlinable
    public static func decode<Value: RawRepresentable & StorageColumnValue>(
        _ type: Value.Type, from row: GRDB.Row, _ column: String
    ) throws -> Value
    where Value.RawValue: StorageColumnValue {
        try Value(storageValue: storageValue(row, column))
    }

    /// Reads a property from a row of GRDB.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a column that contains something else.
    @inlinable
    public static func decode<Value: RawRepresentable & StorageColumnValue>(
        _ type: Value?.Type, from row: GRDB.Row, _ column: String
    ) throws -> Value?
    where Value.RawValue: StorageColumnValue {
        let stored = try storageValue(row, column)
        return stored == .null ? nil : try Value(storageValue: stored)
    }

    @usableFromInline static func mismatch(_ value: StorageValue, column: String) -> StorageError {
        StorageError(
            .invalidValue, "Column \"\(column)\" holds \(value), which isn't a case of its type.",
            remedy: "Correct the row with SQL, or add the case.")
    }

    @usableFromInline
    static func put(_ value: StorageValue, to container: inout GRDB.PersistenceContainer, _ column: String) throws {
        switch value {
        case .null: container[column] = GRDB.DatabaseValue.null
        case .integer(let value): container[column] = value
        case .real(let value) where value.isNaN:
            throw StorageError.notStorable("NaN, or a date outside of the years 0 to 9999,", in: "\"\(column)\"")
        case .real(let value): container[column] = value
        case .text(let value): container[column] = value
        case .blob(let value): container[column] = value
        }
    }

    @usableFromInline static func storageValue(_ row: GRDB.Row, _ column: String) throws -> StorageValue {
        guard let value: GRDB.DatabaseValue = row[column] else {
            throw StorageError(
                .notFound, "The row has no column \"\(column)\".", remedy: "Select every column of the entity.")
        }
        switch value.storage {
        case .null: return .null
        case .int64(let value): return .integer(value)
        case .double(let value): return .real(value)
        case .string(let value): return .text(value)
        case .blob(let value): return .blob(value)
        }
    }
}
