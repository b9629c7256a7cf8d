public import StorageCore

/// An entity whose type leads to its record's type, so that calls need only the entity.
public protocol RegisteredEntity: StorageKitEntity {
    associatedtype Record: StorageKitEntityRecord where Record.E == Self
}
