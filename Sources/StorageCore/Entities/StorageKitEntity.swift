/// A value type whose instances are stored, one row each, under their `id`.
public protocol StorageKitEntity: Codable, Sendable, Equatable {
    associatedtype Id: Hashable & Sendable
    var id: Id { get }
}
