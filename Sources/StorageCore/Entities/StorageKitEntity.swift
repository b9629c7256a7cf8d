/// A value type whose instances are stored as one row each, identified by their `id`.
///
/// ```swift
/// @StorageEntity
/// struct Reminder: Identifiable {
///     var id: Int
///     var text: String
///     var due: Date?
/// }
/// ```
public protocol StorageKitEntity: Codable, Sendable, Equatable {
    /// The type of the primary key.
    associatedtype Id: Hashable & Sendable
    /// The primary key.
    var id: Id { get }
}
