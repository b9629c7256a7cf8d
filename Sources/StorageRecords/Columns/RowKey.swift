public import StorageCore

/// The stored form of ids.
public enum RowKey {
    @inlinable public static func value<Id: StorageColumnValue>(of id: Id) -> StorageValue { id.storageValue }

    @inlinable public static func value<Id: RawRepresentable>(of id: Id) -> StorageValue
    where Id.RawValue: StorageColumnValue {
        id.rawValue.storageValue
    }

    @inlinable
    public static func value<Id: RawRepresentable & StorageColumnValue>(of id: Id) -> StorageValue { id.storageValue }
}
