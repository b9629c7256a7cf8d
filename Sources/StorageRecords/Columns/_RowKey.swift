public import StorageCore

/// The stored form of ids; what `@StorageEntity` writes calls these, and nothing else should.
public enum _RowKey {
    /// The value of a key as its column stores it.
    @inlinable public static func value<Id: StorageColumnValue>(of id: Id) -> StorageValue { id.storageValue }

    /// The value of a key as its column stores it.
    @inlinable public static func value<Id: RawRepresentable>(of id: Id) -> StorageValue
    where Id.RawValue: StorageColumnValue {
        id.rawValue.storageValue
    }

    /// The value of a key as its column stores it.
    @inlinable
    public static func value<Id: RawRepresentable & StorageColumnValue>(of id: Id) -> StorageValue
    where Id.RawValue: StorageColumnValue { id.storageValue }
}
