public import GRDB
internal import StorageCore
internal import StorageLog

/// Reads entities inside a transaction: a ``ReadTransaction``, which sees one state of the store, or a ``WriteTransaction``, which also sees its own
/// changes.
///
/// ```swift
/// func posts(of author: String, in tx: some TransactionReader) throws -> [Post] {
///     guard try tx.exists(User.self, id: author) else { return [] }
///     return try tx.loadChildren(Post.self, where: "authorId", equals: author, orderBy: "createdAt")
/// }
/// ```
///
/// Every call throws ``StorageError``: `not-found` if the entity has no table because it wasn't declared when the store was opened, `invalid-value`
/// if a row holds a value that a property's type can't represent.
public protocol TransactionReader {
    /// The connection, for SQL of your own.
    var database: GRDB.Database { get }
}

extension TransactionReader {
    /// Returns the entity with this id, or nil if there is none.
    ///
    /// - Throws: ``StorageError`` as ``TransactionReader`` says.
    public func get<E: RegisteredEntity>(_ type: E.Type, id: E.Id) throws -> E? {
        try EntityTableCache.of(E.Record.self).entity(E.Record.key(of: id), in: database)
    }

    /// Returns the entity with this id and the position of its last event; nil if there is none.
    ///
    /// - Throws: ``StorageError`` as ``TransactionReader`` says.
    public func getWithPosition<E: RegisteredEntity>(_ type: E.Type, id: E.Id) throws -> (entity: E, position: Int64)? {
        guard let entity = try get(type, id: id), let position = try position(of: type, id: id) else { return nil }
        return (entity, position)
    }

    /// Returns the position of a row's last event; nil if there is no row.
    ///
    /// - Throws: ``StorageError`` as ``TransactionReader`` says.
    public func position<E: RegisteredEntity>(of type: E.Type, id: E.Id) throws -> Int64? {
        try EntityTableCache.of(E.Record.self).position(E.Record.key(of: id), in: database)
    }

    /// Returns every entity of a type, in the order of a column, or of the key if none is named.
    ///
    /// - Throws: ``StorageError`` with `invalid-name` for a column that the entity doesn't have; also as ``TransactionReader`` says.
    public func all<E: RegisteredEntity>(
        _ type: E.Type, orderBy column: String? = nil, ascending: Bool = true
    ) throws -> [E] {
        try EntityTableCache.of(E.Record.self).all(orderBy: column, ascending: ascending, in: database)
    }

    /// Returns a page of entities.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of entities; 0 or more.
    ///   - offset: The number of entities to skip; 0 or more.
    /// - Throws: ``StorageError`` with `invalid-argument` for a negative limit or offset, `invalid-name` for a column that the
    ///   entity doesn't have; also as ``TransactionReader`` says.
    public func page<E: RegisteredEntity>(
        _ type: E.Type, orderBy column: String? = nil, ascending: Bool = true, limit: Int, offset: Int = 0
    ) throws -> RepoPage<E> {
        try EntityTableCache.of(E.Record.self).page(
            orderBy: column, ascending: ascending, limit: limit, offset: offset, in: database)
    }

    /// Returns the number of entities of a type.
    ///
    /// - Throws: ``StorageError`` as ``TransactionReader`` says.
    public func count<E: RegisteredEntity>(_ type: E.Type) throws -> Int {
        try EntityTableCache.of(E.Record.self).count(in: database)
    }

    /// Returns whether there is an entity with this id.
    ///
    /// ```swift
    /// let isTaken = try tx.exists(User.self, id: "1")
    /// ```
    ///
    /// - Throws: ``StorageError`` as ``TransactionReader`` says.
    public func exists<E: RegisteredEntity>(_ type: E.Type, id: E.Id) throws -> Bool {
        try EntityTableCache.of(E.Record.self).exists(E.Record.key(of: id), in: database)
    }
}
