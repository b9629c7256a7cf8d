public import StorageCore

/// An open store, as ``start(at:cacheTTL:diskQuota:config:_:)`` returns it: the facade, and access to what is beneath it.
///
/// ```swift
/// let context = try StorageKit.start(at: url) { $0.autoSchema(UserRecord.self) }
/// try await context.facade.save(user)
/// let users = context.makeRepository(User.self)
/// let rows = try await context.storage.pool.read { db in try UserRecord.fetchCount(db) }
/// ```
public struct Context: Sendable {
    /// The calls that most programs need.
    public let facade: Storage

    /// Access to the database below the facade.
    public var storage: StorageContext { StorageContext(storage: facade) }
    /// The store's configuration, including the settings of caches and encoders.
    public var config: StorageConfig { facade.config }

    /// Returns the repository of an entity.
    public func makeRepository<E: RegisteredEntity>(
        _ type: E.Type, record: E.Record.Type = E.Record.self
    ) -> GenericRepository<E, E.Record> { facade.repository(type) }

    /// Returns the repository of an entity as a type that hides its record.
    public func repository<E: RegisteredEntity>(
        _ type: E.Type, record: E.Record.Type = E.Record.self
    ) -> AnyRepository<E> { facade.anyRepository(type) }
}
