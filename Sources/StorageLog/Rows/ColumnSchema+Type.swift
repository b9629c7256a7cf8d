public import StorageCore

extension ColumnSchema {
    /// The column of a property, its SQL type and nullability taken from the property's Swift type.
    @inlinable
    public init<Value: StorageColumnValue>(_ name: String, _ type: Value.Type, primaryKey: Bool = false) {
        self.init(name: name, type: Value.columnType, notNull: !Value.isNullable, primaryKey: primaryKey)
    }

    @inlinable
    public init<Value: RawRepresentable>(_ name: String, _ type: Value.Type, primaryKey: Bool = false)
    where Value.RawValue: StorageColumnValue {
        self.init(name: name, type: Value.RawValue.columnType, notNull: true, primaryKey: primaryKey)
    }

    @inlinable
    public init<Value: RawRepresentable>(_ name: String, _ type: Value?.Type, primaryKey: Bool = false)
    where Value.RawValue: StorageColumnValue {
        self.init(name: name, type: Value.RawValue.columnType, notNull: false, primaryKey: primaryKey)
    }

    @inlinable
    public init<Value: RawRepresentable & StorageColumnValue>(
        _ name: String, _ type: Value.Type, primaryKey: Bool = false
    ) {
        self.init(name: name, type: Value.columnType, notNull: !Value.isNullable, primaryKey: primaryKey)
    }

    @inlinable
    public init<Value: RawRepresentable & StorageColumnValue>(
        _ name: String, _ type: Value?.Type, primaryKey: Bool = false
    ) {
        self.init(name: name, type: Value.columnType, notNull: false, primaryKey: primaryKey)
    }
}
