public import GRDB
internal import StorageCore
public import StorageEntities
internal import StorageLog

extension Storage {
    /// A query over an entity's rows.
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
    /// A query that sees the changes of this transaction, and whose changes are part of it.
    public func query<E: RegisteredEntity>(_ type: E.Type) -> TransactionQuery<E> {
        TransactionQuery(transaction: self)
    }
}

/// A query over an entity's rows. Nothing is asked before one of the `async` calls.
///
/// Names of columns are checked when it runs, values are always bound. Rows have a total order: behind the columns that
/// are asked for comes the key.
public struct Query<Entity: RegisteredEntity>: FetchableQuery {
    public var request = QueryRequest<Entity>()
    let storage: Storage

    init(storage: Storage) { self.storage = storage }

    public func reading<Result: Sendable>(
        _ body: @escaping @Sendable (GRDB.Database) throws -> Result
    ) async throws -> Result {
        try await storage.read(body)
    }

    /// Deletes every entity that fits, as one commit.
    ///
    /// - Returns: How many were deleted, without the rows that foreign keys took along.
    @discardableResult
    public func deleteAll() async throws -> Int {
        let query = self
        return try await storage.changing { try $0.query(Entity.self, query.request).deleteAll() }
    }

    /// Changes columns of every entity that fits, as one commit. Rows that hold the values already stay as they are.
    ///
    /// ```swift
    /// try await storage.query(User.self).where { $0.lastSeen < limit }.updateAll { $0.isActive.set(to: false) }
    /// ```
    ///
    /// - Returns: How many rows were changed.
    @discardableResult
    public func updateAll(@AssignmentBuilder _ assignments: (ColumnRef<Entity>) -> [StorageAssignment]) async throws
        -> Int
    {
        let query = self
        let assignments = assignments(ColumnRef())
        return try await storage.changing { try $0.query(Entity.self, query.request).update(assignments) }
    }
}

extension Storage {
    /// Runs a change as a commit and hands on what it answers.
    func changing(_ body: @escaping @Sendable (WriteTransaction) throws -> Int) async throws -> Int {
        let count = ChangeCount()
        try await write { count.value = try body($0) }
        return count.value
    }
}

/// Carries a number out of a commit's body.
private final class ChangeCount: @unchecked Sendable {
    // Sound: written once in the commit's body, which has returned before anybody reads it.
    var value = 0
}

/// ``Query`` by a name of its own, for files that also use the property wrapper `@Query` of `StorageUI`.
public typealias StorageQuery<Entity: RegisteredEntity> = Query<Entity>
