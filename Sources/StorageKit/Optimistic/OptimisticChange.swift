internal import Foundation
internal import StorageCore
public import StorageEntities
internal import StorageViews

/// A change that live queries show before it is stored: see ``Storage/optimistically(_:actor:app:reason:correlation:)``.
public struct OptimisticChange: Sendable {
    /// How the row is going to be, saved at a time.
    let makeRow: @Sendable (Date) -> OptimisticRow
    /// Makes the change.
    let apply: @Sendable (WriteTransaction) throws -> Void

    /// An entity is going to be saved.
    public static func save<Entity: RegisteredEntity>(_ entity: Entity) -> OptimisticChange {
        OptimisticChange(
            makeRow: { OptimisticRow(saving: entity, now: $0) }, apply: { try $0.save(entity) })
    }

    /// The entity with this id is going to be deleted.
    public static func delete<Entity: RegisteredEntity>(_ type: Entity.Type, id: Entity.Id) -> OptimisticChange {
        OptimisticChange(
            makeRow: { _ in OptimisticRow(deleting: type, id: id) }, apply: { try $0.delete(type, id: id) })
    }

    /// An entity is going to be deleted.
    public static func delete<Entity: RegisteredEntity>(_ entity: Entity) -> OptimisticChange {
        delete(Entity.self, id: entity.id)
    }
}
