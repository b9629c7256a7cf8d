internal import GRDB
public import StorageCore
public import StorageLog

// What a record of GRDB can do already, so that one brings it along: its own `encode(to:)` and `init(row:)`, by the names of columns.
// Records of `@StorageEntity` bind and read by index, which is several times as fast, and keep dates to the last bit, where GRDB's
// have milliseconds.
extension StorageKitEntityRecord {
    /// Fills one parameter per column with what the record's `encode(to:)` says; NULL where it says nothing.
    ///
    /// - Throws: What `encode(to:)` throws; ``StorageError`` with `invalid-value` for a value that can't be stored, as NaN.
    public func write(to row: RowWriter) throws {
        let values = try databaseDictionary
        for (index, column) in Self.schemaColumns.enumerated() {
            let value = values[column.name].flatMap(StorageValue.fromDatabaseValue) ?? .null
            try row.bind(value, at: Int32(index + 1))
        }
    }

    /// Reads a row by the record's `init(row:)`.
    ///
    /// - Throws: ``StorageError`` with `invalid-value` where the row holds what a property's type can't.
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
    /// The key as a column holds it.
    public static func key(of id: E.Id) -> StorageValue { id.storageValue }
}

extension StorageKitEntityRecord where E.Id: RawRepresentable, E.Id.RawValue: StorageColumnValue {
    /// The key's raw value as a column holds it.
    @_disfavoredOverload
    public static func key(of id: E.Id) -> StorageValue { id.rawValue.storageValue }
}
