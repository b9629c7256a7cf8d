internal import GRDB
public import StorageCore
public import StorageLog

// Defaults for existing GRDB records: they use the record's own `encode(to:)` and `init(row:)`, by column name. Records
// of `@StorageEntity` bind and read by index, which is several times as fast, and store dates exactly, where GRDB
// stores milliseconds.
extension StorageKitEntityRecord {
    /// Binds, for each column, the value that the record's `encode(to:)` sets; NULL if it sets none.
    ///
    /// - Throws: What `encode(to:)` throws; ``StorageError`` with `invalid-value` for a value that can't be stored,
    ///   such as NaN.
    public func write(to row: RowWriter) throws {
        let values = try databaseDictionary
        for (index, column) in Self.schemaColumns.enumerated() {
            let value = values[column.name].flatMap(StorageValue.fromDatabaseValue) ?? .null
            try row.bind(value, at: Int32(index + 1))
        }
    }

    /// Reads a row with the record's `init(row:)`.
    ///
    /// - Throws: ``StorageError`` with `invalid-value` if a value doesn't fit its property's type.
    public init(reading row: RowReader) throws {
        var values: [String: (any DatabaseValueConvertible)?] = [:]
        for (index, column) in Self.schemaColumns.enumerated() { values[column.name] = row.value(at: Int32(index)) }
        do {
            try self.init(row: GRDB.Row(values))
        } catch {
            throw StorageError(
                .invalidValue, "A row of \"\(Self.databaseTableName)\" isn't a \(Self.self): \(error)",
                remedy: "Correct the row with SQL, or change the property's type.", cause: error)
        }
    }
}

extension StorageKitEntityRecord where E.Id: StorageColumnValue {
    /// Returns the key as its column holds it.
    public static func key(of id: E.Id) -> StorageValue { id.storageValue }
}

extension StorageKitEntityRecord where E.Id: RawRepresentable, E.Id.RawValue: StorageColumnValue {
    /// Returns the key's raw value as its column holds it.
    @_disfavoredOverload
    public static func key(of id: E.Id) -> StorageValue { id.rawValue.storageValue }
}
