public import StorageCore

/// An entity that knows its record, so that calls need to name only the entity.
public protocol RegisteredEntity: StorageKitEntity {
    associatedtype Record: StorageKitEntityRecord where Record.E == Self
}
