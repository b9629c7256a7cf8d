public import GRDB
internal import StorageCore
public import StorageEntities
internal import StorageLog

/// A query inside a transaction, which reads synchronously: ``ReadQuery`` or ``TransactionQuery``. Like the transaction, it is
/// valid only inside the body.
///
/// Every call throws ``StorageError`` with `invalid-name` for a column that the entity doesn't have, and `invalid-argument` for
/// a negative limit or offset; also as ``TransactionReader`` says.
public protocol TransactionFetchableQuery: EntityQuery {
    /// The transaction's connection.
    var database: GRDB.Database { get }
}

extension TransactionFetchableQuery {
    private var run: QueryRun<Entity> { QueryRun(request: request) }

    /// Returns every matching entity.
    ///
    /// - Throws: ``StorageError`` as ``TransactionFetchableQuery`` says.
    public func fetch() throws -> [Entity] { try run.fetch(database) }

    /// Returns the first matching entity, or nil.
    ///
    /// - Throws: ``StorageError`` as ``TransactionFetchableQuery`` says.
    public func fetchOne() throws -> Entity? { try run.fetch(database, limit: 1).first }

    /// Returns the number of matching entities.
    ///
    /// - Throws: ``StorageError`` as ``TransactionFetchableQuery`` says.
    public func count() throws -> Int { try run.count(database) }

    /// Returns whether any entity matches.
    ///
    /// ```swift
    /// let hasPosts = try tx.query(Post.self).where { $0.authorId == "1" }.exists()
    /// ```
    ///
    /// - Throws: ``StorageError`` as ``TransactionFetchableQuery`` says.
    public func exists() throws -> Bool { try run.exists(database) }

    /// Returns a page of entities after a cursor: see ``FetchableQuery/page(after:size:)``.
    ///
    /// - Throws: ``StorageError`` with `invalid-argument` for a size below 1, a cursor of another entity or order, or a
    ///   query with a limit; also as ``TransactionFetchableQuery`` says.
    public func page(after cursor: PageCursor? = nil, size: Int) throws -> QueryPage<Entity> {
        try run.page(database, after: cursor, size: size)
    }
}

/// A query of a ``ReadTransaction``.
///
/// ```swift
/// let active = try await storage.readTransaction { tx in
///     try tx.query(User.self).where { $0.isActive == true }.orderBy(\.name).fetch()
/// }
/// ```
public struct ReadQuery<Entity: RegisteredEntity>: TransactionFetchableQuery {
    /// The conditions, orders and limits.
    public var request = QueryRequest<Entity>()
    /// The connection of the transaction.
    public let database: GRDB.Database
}

extension ReadTransaction {
    /// Returns a query over an entity's rows, at the state that the transaction sees.
    public func query<E: RegisteredEntity>(_ type: E.Type) -> ReadQuery<E> { ReadQuery(database: database) }
}

/// A query of a ``WriteTransaction``, which sees the transaction's changes and can make changes.
///
/// ```swift
/// try await storage.write { tx in
///     try tx.query(Post.self).where { $0.createdAt < limit }.deleteAll()
///     try tx.query(User.self).where { $0.lastSeen < limit }.updateAll { $0.isActive.set(to: false) }
/// }
/// ```
public struct TransactionQuery<Entity: RegisteredEntity>: TransactionFetchableQuery {
    /// The conditions, orders and limits.
    public var request = QueryRequest<Entity>()
    private let transaction: WriteTransaction
    /// The connection of the transaction.
    public var database: GRDB.Database { transaction.database }

    init(transaction: WriteTransaction) { self.transaction = transaction }

    private var run: QueryRun<Entity> { QueryRun(request: request) }

    /// Deletes every matching entity.
    ///
    /// - Returns: The number of deleted entities, not counting rows that foreign keys deleted.
    /// - Throws: ``StorageError`` as ``WriteTransaction`` and ``TransactionFetchableQuery`` say.
    @discardableResult
    public func deleteAll() throws -> Int {
        try transaction.writer.atomically { try run.deleteAll(database) }
    }

    /// Updates columns of every matching entity, as ``Query/updateAll(isolation:_:)`` does.
    ///
    /// - Returns: The number of changed rows.
    /// - Throws: ``StorageError`` with `invalid-argument` for an assignment to the key, and `invalid-value` for nil in a required
    ///   part of an embedded value that isn't nil; also as ``WriteTransaction`` and ``TransactionFetchableQuery`` say.
    @discardableResult
    public func updateAll(@AssignmentBuilder _ assignments: (ColumnRef<Entity>) -> [StorageAssignment]) throws -> Int {
        try update(assignments(ColumnRef()))
    }

    func update(_ assignments: [StorageAssignment]) throws -> Int {
        try transaction.writer.atomically {
            try run.updateAll(assignments, now: transaction.now.storageValue, database)
        }
    }
}

extension WriteTransaction {
    func query<E: RegisteredEntity>(_ type: E.Type, _ request: QueryRequest<E>) -> TransactionQuery<E> {
        var query = query(type)
        query.request = request
        return query
    }
}
