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

extension EntityChange: CustomStringConvertible {
    /// The entity before and after: `@101 User(…) → User(…)`; `none` where there was or is none.
    public var description: String {
        "@\(position) \(old.map { "\($0)" } ?? "none") → \(new.map { "\($0)" } ?? "none")"
    }
}
