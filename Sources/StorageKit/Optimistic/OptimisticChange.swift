internal import Foundation
internal import StorageCore
public import StorageEntities
internal import StorageViews

/// A change that live queries show before it is stored: see ``Storage/optimistically(_:actor:app:reason:correlation:)``.
///
/// ```swift
/// let changes: [OptimisticChange] = [.save(task), .delete(Post.self, id: 7)]
/// try await storage.optimistically(changes, actor: "anna")
/// ```
public struct OptimisticChange: Sendable {
    /// The row as it will be, given the time of saving.
    let makeRow: @Sendable (Date) -> OptimisticRow
    /// Makes the change.
    let apply: @Sendable (WriteTransaction) throws -> Void

    /// Returns a change that saves an entity.
    public static func save<Entity: RegisteredEntity>(_ entity: Entity) -> OptimisticChange {
        OptimisticChange(
            makeRow: { OptimisticRow(saving: entity, now: $0) }, apply: { try $0.save(entity) })
    }

    /// Returns a change that deletes the entity with an id.
    public static func delete<Entity: RegisteredEntity>(_ type: Entity.Type, id: Entity.Id) -> OptimisticChange {
        OptimisticChange(
            makeRow: { _ in OptimisticRow(deleting: type, id: id) }, apply: { try $0.delete(type, id: id) })
    }

    /// Returns a change that deletes an entity.
    public static func delete<Entity: RegisteredEntity>(_ entity: Entity) -> OptimisticChange {
        delete(Entity.self, id: entity.id)
    }
}
