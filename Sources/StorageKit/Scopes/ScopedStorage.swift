public import GRDB
public import StorageCore
public import StorageEntities
internal import StorageLog
internal import StorageViews

extension Storage {
    /// Returns the part of the store that a user of a server may read: its queries, including live ones, find only rows that meet a condition for
    /// their entity.
    ///
    /// ```swift
    /// let mine = storage.scoped { scope in
    ///     scope.allow(Order.self) { $0.customerId == customer.id }
    ///     scope.allow(Product.self)
    /// }
    /// for try await orders in mine.query(Order.self).include(\.product).live().snapshots { … }
    /// ```
    ///
    /// The conditions apply to every entity that a query reads: rows that it finds, includes, counts, or tests with `has`. An entity that isn't
    /// allowed can't be queried. A row that leaves the scope leaves live queries. Custom SQL conditions are refused in scoped queries, because they
    /// could read anything; in the scope's own conditions they are allowed.
    ///
    /// A scope limits reading only. Ranks of full-text search are computed from all documents of the index, so their values, but no rows, depend on
    /// documents outside the scope.
    public func scoped(_ build: (inout ScopeBuilder) -> Void) -> ScopedStorage {
        var builder = ScopeBuilder()
        build(&builder)
        return ScopedStorage(storage: self, scope: StorageScope(builder.conditions))
    }
}

/// Declares which rows a scope includes: see ``Storage/scoped(_:)``.
public struct ScopeBuilder {
    fileprivate var conditions: [String: RowPredicate?] = [:]

    /// Includes all rows of an entity.
    public mutating func allow<Entity: RegisteredEntity>(_ type: Entity.Type) {
        conditions[EntityTableCache.of(Entity.Record.self).name] = .some(nil)
    }

    /// Includes the rows of an entity for which the condition is true. Of several calls for one entity the last one counts.
    public mutating func allow<Entity: RegisteredEntity>(
        _ type: Entity.Type, where condition: (ColumnRef<Entity>) -> RowPredicate
    ) { conditions[EntityTableCache.of(Entity.Record.self).name] = condition(ColumnRef()) }
}

/// The part of a store that a scope includes: see ``Storage/scoped(_:)``.
///
/// Isolation: `Sendable`; a value that can be created for each request of a server. It costs nothing until it is queried.
public struct ScopedStorage: Sendable {
    let storage: Storage
    let scope: StorageScope

    /// Returns a query over the rows of an entity in the scope.
    public func query<E: RegisteredEntity>(_ type: E.Type) -> ScopedQuery<E> { ScopedQuery(self) }

    /// Returns the entity with an id; nil if it doesn't exist or is outside the scope.
    ///
    /// - Throws: ``StorageError`` as ``FetchableQuery`` says; `not-found` for an entity that the scope doesn't know.
    public func get<E: RegisteredEntity>(_ type: E.Type, id: E.Id) async throws -> E? {
        let column = EntityTableCache.of(E.Record.self).keyColumn
        return try await query(type).filter(
            .comparison(column: column, .equal, .value(E.Record.key(of: id)))
        ).fetchOne()
    }
}

/// A query limited to the rows of a scope.
public struct ScopedQuery<Entity: RegisteredEntity>: SubscribableQuery {
    private var bounded: QueryRequest<Entity>
    private let scoped: ScopedStorage

    init(_ scoped: ScopedStorage) {
        self.scoped = scoped
        bounded = scoped.scope.request()
    }

    /// The query so far; a request that is set is limited by the scope as well.
    public var request: QueryRequest<Entity> {
        get { bounded }
        set { bounded = scoped.scope.apply(to: newValue) }
    }

    public var subscriptionSource: SubscriptionSource {
        SubscriptionSource(scoped.storage.subscriptions, scoped.storage.searchIndexes)
    }

    /// Runs `body` on the whole store: a scope limits queries, not the program.
    ///
    /// - Throws: What `body` throws; ``StorageError`` with `closed`.
    public func reading<Result: Sendable>(
        _ body: @escaping @Sendable (GRDB.Database) throws -> Result
    ) async throws -> Result {
        try await scoped.storage.read(body)
    }
}
