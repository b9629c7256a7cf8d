public import GRDB
public import StorageCore
public import StorageEntities
internal import StorageLog
internal import StorageViews

extension Storage {
    /// Returns the part of the store that one user of a server may read: its queries, including live ones, find only the rows
    /// that meet a condition for their entity.
    ///
    /// ```swift
    /// let mine = storage.scoped { scope in
    ///     scope.allow(Order.self) { $0.customerId == customer.id }
    ///     scope.allow(Product.self)
    /// }
    /// for try await orders in mine.query(Order.self).include(\.product).live().snapshots { … }
    /// ```
    ///
    /// The conditions apply to every entity that a query reads: to rows that it finds, includes, counts, or tests with `has`.
    /// An entity that isn't allowed can't be queried. A row that leaves the scope also leaves live queries. Queries of a scope
    /// refuse custom SQL, because it could read anything; the scope's own conditions may use it.
    ///
    /// A scope limits only reading. Ranks of a full-text search are computed from all documents of the index, so documents
    /// outside the scope influence the ranks, but not which rows are found.
    public func scoped(_ build: (inout ScopeBuilder) -> Void) -> ScopedStorage {
        var builder = ScopeBuilder()
        build(&builder)
        return ScopedStorage(storage: self, scope: StorageScope(builder.conditions))
    }
}

/// Declares which rows a scope includes: see ``Storage/scoped(_:)``.
///
/// ```swift
/// func limit(_ scope: inout ScopeBuilder, to customer: User) {
///     scope.allow(Order.self) { $0.customerId == customer.id }
///     scope.allow(Book.self)
/// }
/// let mine = storage.scoped { scope in limit(&scope, to: customer) }
/// ```
public struct ScopeBuilder {
    fileprivate var conditions: [String: RowPredicate?] = [:]

    /// Includes all rows of an entity.
    public mutating func allow<Entity: RegisteredEntity>(_ type: Entity.Type) {
        conditions[EntityTableCache.of(Entity.Record.self).name] = .some(nil)
    }

    /// Includes the rows of an entity for which the condition is true. If called again for the same entity, the last call
    /// counts.
    public mutating func allow<Entity: RegisteredEntity>(
        _ type: Entity.Type, where condition: (ColumnRef<Entity>) -> RowPredicate
    ) { conditions[EntityTableCache.of(Entity.Record.self).name] = condition(ColumnRef()) }
}

/// The part of a store that a scope includes: see ``Storage/scoped(_:)``.
///
/// ```swift
/// let order = try await mine.get(Order.self, id: 7)
/// let open = try await mine.query(Order.self).where { $0.status == "open" }.fetch()
/// ```
///
/// Isolation: `Sendable`; a value that can be created for each request of a server. Creating it costs nothing; only queries do.
public struct ScopedStorage: Sendable {
    let storage: Storage
    let scope: StorageScope

    /// Returns a query over the rows of an entity in the scope.
    public func query<E: RegisteredEntity>(_ type: E.Type) -> ScopedQuery<E> { ScopedQuery(self) }

    /// Returns the entity with this id; nil if it doesn't exist or is outside the scope.
    ///
    /// - Throws: ``StorageError`` as ``FetchableQuery`` says; `not-found` for an entity that the scope doesn't include.
    public func get<E: RegisteredEntity>(_ type: E.Type, id: E.Id) async throws -> E? {
        let column = EntityTableCache.of(E.Record.self).keyColumn
        return try await query(type).filter(
            .comparison(column: column, .equal, .value(E.Record.key(of: id)))
        ).fetchOne()
    }
}

/// A query limited to the rows of a scope.
///
/// ```swift
/// let mine = storage.scoped { scope in scope.allow(Order.self) { $0.customerId == "1" } }
/// let query: ScopedQuery<Order> = mine.query(Order.self)
/// let open = try await query.where { $0.status == "open" }.count()
/// ```
public struct ScopedQuery<Entity: RegisteredEntity>: SubscribableQuery {
    private var bounded: QueryRequest<Entity>
    private let scoped: ScopedStorage

    init(_ scoped: ScopedStorage) {
        self.scoped = scoped
        bounded = scoped.scope.request()
    }

    /// What the query reads; a request that is assigned is limited by the scope as well.
    public var request: QueryRequest<Entity> {
        get { bounded }
        set { bounded = scoped.scope.apply(to: newValue) }
    }

    public var subscriptionSource: SubscriptionSource {
        SubscriptionSource(scoped.storage.subscriptions, scoped.storage.searchIndexes)
    }

    /// Runs `body` on the whole store: the scope limits queries, but not code with a connection.
    ///
    /// - Throws: What `body` throws; ``StorageError`` with `closed`.
    public func reading<Result: Sendable>(
        _ body: @escaping @Sendable (GRDB.Database) throws -> Result
    ) async throws -> Result {
        try await scoped.storage.read(body)
    }
}
