public import StorageCore

extension ColumnSchema {
    /// The column of a property, its SQL type and nullability taken from the property's Swift type.
    @inlinable
    public init<Value: StorageColumnValue>(
        _ name: String, _ type: Value.Type, primaryKey: Bool = false, default value: Value? = nil
    ) {
        self.init(
            name: name, type: Value.columnType, notNull: !Value.isNullable, primaryKey: primaryKey,
            defaultValue: value.map { $0.storageValue.literal })
    }

    @inlinable
    public init<Value: RawRepresentable>(
        _ name: String, _ type: Value.Type, primaryKey: Bool = false, default value: Value? = nil
    )
    where Value.RawValue: StorageColumnValue {
        self.init(
            name: name, type: Value.RawValue.columnType, notNull: true, primaryKey: primaryKey,
            defaultValue: value.map { $0.rawValue.storageValue.literal })
    }

    @inlinable
    public init<Value: RawRepresentable>(
        _ name: String, _ type: Value?.Type, primaryKey: Bool = false, default value: Value? = nil
    )
    where Value.RawValue: StorageColumnValue {
        self.init(
            name: name, type: Value.RawValue.columnType, notNull: false, primaryKey: primaryKey,
            defaultValue: value.map { $0.rawValue.storageValue.literal })
    }

    @inlinable
    public init<Value: RawRepresentable & StorageColumnValue>(
        _ name: String, _ type: Value.Type, primaryKey: Bool = false, default value: Value? = nil
    ) {
        self.init(
            name: name, type: Value.columnType, notNull: !Value.isNullable, primaryKey: primaryKey,
            defaultValue: value.map { $0.storageValue.literal })
    }

    @inlinable
    public init<Value: RawRepresentable & StorageColumnValue>(
        _ name: String, _ type: Value?.Type, primaryKey: Bool = false, default value: Value? = nil
    ) {
        self.init(
            name: name, type: Value.columnType, notNull: false, primaryKey: primaryKey,
            defaultValue: value.map { $0.storageValue.literal })
    }
}

extension StorageValue {
    /// The value as it stands in SQL.
    @usableFromInline var literal: String {
        switch self {
        case .null: "NULL"
        case .integer(let value): "\(value)"
        case .real(let value): value.isNaN ? "NULL" : value.isFinite ? "\(value)" : value < 0 ? "-9e999" : "9e999"
        case .text(let value): "'" + value.replacing("'", with: "''") + "'"
        case .blob(let value): "x'" + value.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "'"
        }
    }
}
