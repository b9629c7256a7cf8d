public import StorageCore

/// What a batch makes of one entity: how it was before the batch and how it is after.
public struct EntityChange<E: StorageKitEntity>: Sendable {
    /// The entity before; nil where there was none.
    public let old: E?
    /// The entity after; nil where there is none any more.
    public let new: E?
    /// Position of the entity's last event in the batch.
    public let position: Int64
}
