internal import StorageCore
public import StorageEntities

/// The result of a live query as if pending changes were stored.
///
/// ```swift
/// for try await tasks in storage.query(Task.self).live().optimistic {
///     for task in tasks.value { print(task.title, tasks.isPending(task) ? "saving" : "") }
/// }
/// ```
public struct OptimisticValue<Value: Sendable>: Sendable {
    /// The result with the pending changes applied.
    public let value: Value
    /// The position of the stored state to which the pending changes are applied.
    public let position: Int64
    let pending: Set<OptimisticRow.Name>

    /// Whether the value may show something that isn't stored yet.
    public var hasPendingChanges: Bool { !pending.isEmpty }

    /// Whether the entity's row has a pending change.
    public func isPending<Entity: RegisteredEntity>(_ entity: Entity) -> Bool {
        pending.contains(OptimisticRow.Name(Entity.self, id: entity.id))
    }
}
