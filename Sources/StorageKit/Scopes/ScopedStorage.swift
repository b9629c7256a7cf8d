public import GRDB
public import StorageCore
public import StorageEntities
internal import StorageLog
internal import StorageViews

extension Storage {
    /// What a user of a server may read: queries of it, also live ones, find only rows that meet a condition of their entity.
    ///
    /// ```swift
    /// let mine = storage.scoped { scope in
    ///     scope.allow(Order.self) { $0.customerId == customer.id }
    ///     scope.allow(Product.self)
    /// }
    /// for try await orders in mine.query(Order.self).include(\.product).live().snapshots { … }
    /// ```
    ///
    /// The conditions hold for every entity that a query looks at: rows that it finds, includes, counts, or asks about with `has`. An
    /// entity that isn't allowed can't be queried. A row that leaves the scope leaves live queries. Conditions in SQL
    /// of your own are refused in scoped queries, as they could read anything; in the scope's own conditions they are allowed.
    ///
    /// A scope bounds reading. Ranks of full-text search are computed from all documents of the index, so their numbers, but
    /// no rows, depend on documents outside of the scope.
    public func scoped(_ build: (inout ScopeBuilder) -> Void) -> ScopedStorage {
        var builder = ScopeBuilder()
        build(&builder)
        return ScopedStorage(storage: self, scope: StorageScope(builder.conditions))
    }
}

/// Says which rows a scope lets through: see ``Storage/scoped(_:)``.
public struct ScopeBuilder {
    fileprivate var conditions: [String: RowPredicate?] = [:]

    /// Lets all rows of an entity through.
    public mutating func allow<Entity: RegisteredEntity>(_ type: Entity.Type) {
        conditions[EntityTableCache.of(Entity.Record.self).name] = .some(nil)
    }

    /// Lets rows of an entity through for which the condition is true. Of several calls for one entity the last one counts.
    public mutating func allow<Entity: RegisteredEntity>(
        _ type: Entity.Type, where condition: (ColumnRef<Entity>) -> RowPredicate
    ) { conditions[EntityTableCache.of(Entity.Record.self).name] = condition(ColumnRef()) }
}

/// The part of a store that a scope lets through: see ``Storage/scoped(_:)``.
///
/// Isolation: `Sendable`; a value that can be made for each request of a server. It costs nothing until it is queried.
public struct ScopedStorage: Sendable {
    let storage: Storage
    let scope: StorageScope

    /// A query over the rows of an entity that the scope lets through.
    public func query<E: RegisteredEntity>(_ type: E.Type) -> ScopedQuery<E> { ScopedQuery(self) }

    /// The entity with an id; nil where it isn't there, or outside of the scope.
    ///
    /// - Throws: ``StorageError`` as ``FetchableQuery`` says; `not-found` for an entity that the scope doesn't know.
    public func get<E: RegisteredEntity>(_ type: E.Type, id: E.Id) async throws -> E? {
        let column = EntityTableCache.of(E.Record.self).keyColumn
        return try await query(type).filter(
            .comparison(column: column, .equal, .value(E.Record.key(of: id)))
        ).fetchOne()
    }
}

/// A query that finds nothing outside of a scope.
public struct ScopedQuery<Entity: RegisteredEntity>: SubscribableQuery {
    private var bounded: QueryRequest<Entity>
    private let scoped: ScopedStorage

    init(_ scoped: ScopedStorage) {
        self.scoped = scoped
        bounded = scoped.scope.request()
    }

    /// The query so far; a request that is set is bounded by the scope as well.
    public var request: QueryRequest<Entity> {
        get { bounded }
        set { bounded = scoped.scope.apply(to: newValue) }
    }

    public var subscriptionSource: SubscriptionSource {
        SubscriptionSource(scoped.storage.subscriptions, scoped.storage.searchIndexes)
    }

    /// Runs `body` on the state of the store that is asked: all of it, as a scope bounds queries and not the program.
    ///
    /// - Throws: What `body` throws; ``StorageError`` with `closed`.
    public func reading<Result: Sendable>(
        _ body: @escaping @Sendable (GRDB.Database) throws -> Result
    ) async throws -> Result {
        try await scoped.storage.read(body)
    }
}
