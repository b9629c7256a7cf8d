public import StorageCore

/// The net change of one entity in a batch: its state before and after.
///
/// ```swift
/// for change in try batch.changes(of: Order.self) {
///     print((change.new?.total ?? 0) - (change.old?.total ?? 0))
/// }
/// ```
public struct EntityChange<E: StorageKitEntity>: Sendable {
    /// The entity before; nil if it didn't exist.
    public let old: E?
    /// The entity after; nil if it no longer exists.
    public let new: E?
    /// Position of the entity's last event in the batch.
    public let position: Int64
}

extension EntityChange: CustomStringConvertible {
    /// The entity before and after: `@101 User(…) → User(…)`; `none` if it didn't exist or no longer exists.
    public var description: String {
        "@\(position) \(old.map { "\($0)" } ?? "none") → \(new.map { "\($0)" } ?? "none")"
    }
}
