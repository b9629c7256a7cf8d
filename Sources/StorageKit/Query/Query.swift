public import GRDB
internal import StorageCore
public import StorageEntities
internal import StorageLog

extension Storage {
    /// Returns a query over an entity's rows.
    ///
    /// ```swift
    /// let adults = try await storage.query(User.self)
    ///     .where { $0.age >= 18 && $0.name.hasPrefix("A") }
    ///     .orderBy(\.name)
    ///     .limit(20)
    ///     .fetch()
    /// ```
    public func query<E: RegisteredEntity>(_ type: E.Type) -> Query<E> { Query(storage: self) }
}

extension WriteTransaction {
    /// Returns a query that sees this transaction's changes and can make changes as part of it.
    public func query<E: RegisteredEntity>(_ type: E.Type) -> TransactionQuery<E> {
        TransactionQuery(transaction: self)
    }
}

/// A query over an entity's rows. Nothing is read until one of the `async` methods is called.
///
/// Properties are checked by the compiler, columns named by text when the query runs; values are always bound. Rows have
/// a total order: after the requested columns, they are sorted by the key, in the direction of the last of these columns.
public struct Query<Entity: RegisteredEntity>: FetchableQuery {
    /// The conditions, orders and limits.
    public var request = QueryRequest<Entity>()
    let storage: Storage

    init(storage: Storage) { self.storage = storage }

    /// - Throws: What `body` throws; ``StorageError`` with `closed`.
    public func reading<Result: Sendable>(
        _ body: @escaping @Sendable (GRDB.Database) throws -> Result
    ) async throws -> Result {
        try await storage.read(body)
    }

    /// Deletes every matching entity, as one commit.
    ///
    /// - Returns: The number of deleted entities, not counting rows that foreign keys deleted.
    /// - Throws: ``StorageError`` as ``FetchableQuery`` and ``Storage`` say.
    @discardableResult
    public func deleteAll() async throws -> Int {
        let query = self
        return try await storage.write { tx in try tx.query(Entity.self, query.request).deleteAll() as Int }.value
    }

    /// Updates columns of every matching entity, as one commit. Rows that already hold the values aren't written.
    ///
    /// A part of an optional embedded value is updated only where the value isn't nil, like `home?.city = "Kyiv"` in Swift. Assign
    /// every part to give rows a value that have none, or nil to every part to take it away.
    ///
    /// ```swift
    /// try await storage.query(User.self).where { $0.lastSeen < limit }.updateAll { $0.isActive.set(to: false) }
    /// ```
    ///
    /// - Returns: The number of changed rows.
    /// - Throws: ``StorageError`` with `invalid-argument` for an assignment to the key, and `invalid-value` for nil in a required
    ///   part of an embedded value that isn't nil; also as ``FetchableQuery`` and ``Storage`` say.
    @discardableResult
    public func updateAll(
        isolation: isolated (any Actor)? = #isolation,
        @AssignmentBuilder _ assignments: (ColumnRef<Entity>) -> [StorageAssignment]
    ) async throws -> Int {
        let query = self
        let assignments = assignments(ColumnRef())
        return try await storage.write { tx in try tx.query(Entity.self, query.request).update(assignments) }.value
    }
}
