public import GRDB
public import StorageCore
public import StorageEntities
internal import StorageLog

/// A state of the store to read entities from: the store as it is (``Storage``) or as it was (``StorageSnapshot``).
///
/// ```swift
/// func names(in store: some EntityReader) async throws -> [String] {
///     try await store.all(User.self, orderBy: "name").map(\.name)
/// }
/// let current = try await names(in: storage)
/// let released = try await names(in: storage.asOf(.tag("release-3")))
/// ```
///
/// Each call reads one state. To read several entities from the same state, use ``Storage/readTransaction(_:)`` or
/// ``Storage/asOf(_:schema:)``.
///
/// Every call throws ``StorageError``: `closed` if the store is closed, `not-found` if the entity has no table because it
/// wasn't declared when the store was opened, `invalid-value` if a row holds a value that a property's type can't represent.
public protocol EntityReader: Sendable {
    /// Runs `body` on a state in which these entities' tables can be read.
    ///
    /// ```swift
    /// let released = try await storage.asOf(.tag("release-3"))
    /// let names = try await released.reading(["users"]) { db in
    ///     try String.fetchAll(db, sql: "SELECT name FROM users ORDER BY name")
    /// }
    /// ```
    ///
    /// - Throws: What `body` throws; ``StorageError`` with `closed`.
    func reading<Result: Sendable>(
        _ tables: [String], _ body: @escaping @Sendable (GRDB.Database) throws -> Result
    ) async throws -> Result
}

extension Storage: EntityReader {
    /// Runs `body` on the state.
    ///
    /// - Throws: What `body` throws; ``StorageError`` with `closed`.
    public func reading<Result: Sendable>(
        _ tables: [String], _ body: @escaping @Sendable (GRDB.Database) throws -> Result
    ) async throws -> Result {
        try await read(body)
    }

    /// Runs SQL of your own on one state of the store. To read entities, use ``readTransaction(_:)``.
    ///
    /// ```swift
    /// let names = try await storage.read { db in
    ///     try String.fetchAll(db, sql: "SELECT DISTINCT name FROM users")
    /// }
    /// ```
    ///
    /// - Throws: What `body` throws; ``StorageError``: `closed`, `read-only` for SQL that writes, also to temporary tables,
    ///   `database` for SQL that SQLite refuses, and `invalid-argument` if `body` changes a setting that other reads depend on, or if the
    ///   call is made inside a body of the store's `sqliteClient` and would wait for it.
    public func read<Result: Sendable>(
        _ body: @escaping @Sendable (GRDB.Database) throws -> Result
    ) async throws -> Result {
        try checkWaitsForNoBody(writes: false)
        return try await engine.read(body)
    }

    /// Reads several entities from one state of the store, with the reading calls of a write transaction.
    ///
    /// ```swift
    /// let (user, posts) = try await storage.readTransaction { tx in
    ///     (try tx.get(User.self, id: "1"), try tx.query(Post.self).where { $0.authorId == "1" }.fetch())
    /// }
    /// ```
    ///
    /// - Throws: What `body` throws; ``StorageError``: `closed`, and `invalid-argument` if the call is made inside a body of
    ///   the store's `sqliteClient` and would wait for it.
    public func readTransaction<Result: Sendable>(
        _ body: @escaping @Sendable (ReadTransaction) throws -> Result
    ) async throws -> Result {
        let indexes = searchIndexes
        return try await read { db in try body(ReadTransaction(database: db, searchIndexes: indexes)) }
    }
}

extension EntityReader {
    /// Itself if it is a past state.
    var past: (any PastReader)? { self is Storage ? nil : self as? any PastReader }

    /// As ``PastReader/readingRows(of:matching:_:)`` for a past state; the store as it is has its tables.
    func readingRows<Result: Sendable>(
        of table: String, matching condition: RowPredicate? = nil,
        _ body: @escaping @Sendable (GRDB.Database) throws -> Result
    ) async throws -> Result {
        guard let past else { return try await reading([table], body) }
        return try await past.readingRows(of: table, matching: condition, body)
    }

    /// Returns the entity with this id, or nil if there is none.
    ///
    /// ```swift
    /// let user = try await storage.get(User.self, id: "1")
    /// ```
    ///
    /// - Throws: ``StorageError`` as ``EntityReader`` says.
    public func get<E: RegisteredEntity>(_ type: E.Type, id: E.Id) async throws -> E? {
        let table = EntityTableCache.of(E.Record.self)
        let key = E.Record.key(of: id)
        return try await readingRows(of: table.name, matching: table.condition(key)) { try table.entity(key, in: $0) }
    }

    /// Returns every entity of a type, in the order of a column, or of the key if none is named.
    ///
    /// - Throws: ``StorageError`` with `invalid-name` for a column that the entity doesn't have; also as ``EntityReader`` says.
    public func all<E: RegisteredEntity>(
        _ type: E.Type, orderBy column: String? = nil, ascending: Bool = true
    ) async throws -> [E] {
        let table = EntityTableCache.of(E.Record.self)
        return try await readingRows(of: table.name) { db in
            try table.all(orderBy: column, ascending: ascending, in: db)
        }
    }

    /// Returns a page of entities by offset. To page through rows that change, use ``FetchableQuery/page(after:size:)``.
    ///
    /// ```swift
    /// let page = try await storage.page(User.self, orderBy: "name", limit: 20, offset: 40)
    /// ```
    ///
    /// - Parameters:
    ///   - limit: The maximum number of entities; 0 or more.
    ///   - offset: The number of entities to skip; 0 or more.
    /// - Throws: ``StorageError`` with `invalid-argument` for a negative limit or offset, `invalid-name` for a column that the
    ///   entity doesn't have; also as ``EntityReader`` says.
    public func page<E: RegisteredEntity>(
        _ type: E.Type, orderBy column: String? = nil, ascending: Bool = true, limit: Int, offset: Int = 0
    ) async throws -> RepoPage<E> {
        let table = EntityTableCache.of(E.Record.self)
        return try await readingRows(of: table.name) { db in
            try table.page(orderBy: column, ascending: ascending, limit: limit, offset: offset, in: db)
        }
    }

    /// Returns whether there is an entity with this id.
    ///
    /// ```swift
    /// let isTaken = try await storage.exists(User.self, id: "1")
    /// ```
    ///
    /// - Throws: ``StorageError`` as ``EntityReader`` says.
    public func exists<E: RegisteredEntity>(_ type: E.Type, id: E.Id) async throws -> Bool {
        let table = EntityTableCache.of(E.Record.self)
        let key = E.Record.key(of: id)
        return try await readingRows(of: table.name, matching: table.condition(key)) { try table.exists(key, in: $0) }
    }
}

/// A page of results.
///
/// ```swift
/// let page = try await storage.page(User.self, orderBy: "name", limit: 20)
/// if page.hasMore {
///     let next = try await storage.page(User.self, orderBy: "name", limit: 20, offset: page.nextOffset)
///     show(next.items)
/// }
/// ```
public struct RepoPage<Item: Sendable>: Sendable {
    /// The rows of the page, in the requested order.
    public let items: [Item]
    /// The offset of the next page.
    public let nextOffset: Int
    /// Whether another page follows.
    public let hasMore: Bool
}
