public import GRDB
public import StorageCore
public import StorageEntities
public import StorageLog

/// A query that needs no surrounding transaction: of the store as it is (``Query``) or as it was (``SnapshotQuery``).
///
/// ```swift
/// func titles<Posts: FetchableQuery>(_ posts: Posts) async throws -> [String] where Posts.Entity == Post {
///     try await posts.orderBy(\.createdAt).fetch().map(\.title)
/// }
/// let current = try await titles(storage.query(Post.self))
/// let released = try await titles(storage.asOf(.tag("release-3")).query(Post.self))
/// ```
///
/// Every call throws ``StorageError``: `closed` if the store is closed, `not-found` if the entity has no table because it wasn't declared when the
/// store was opened, `invalid-name` for a column that it doesn't have, `invalid-argument` for a negative limit or offset, and `invalid-value` if a
/// row holds a value that a property's type can't represent.
public protocol FetchableQuery: EntityQuery, Sendable {
    /// Runs `body` on the state of the store that the query reads.
    ///
    /// ```swift
    /// let query = storage.query(Post.self)
    /// let latest = try await query.reading { db in
    ///     try Date.fetchOne(db, sql: "SELECT max(createdAt) FROM posts")
    /// }
    /// ```
    func reading<Result: Sendable>(_ body: @escaping @Sendable (GRDB.Database) throws -> Result) async throws -> Result
}

extension FetchableQuery {
    private var run: QueryRun<Entity> { QueryRun(request: request) }

    /// Itself if it is a query of a past state.
    private var past: (any PastQuery)? { self is Query<Entity> ? nil : self as? any PastQuery }

    /// Runs `body`, which reads only rows that the request means: of the past, there may be no others.
    private func readingMatches<Result: Sendable>(
        _ body: @escaping @Sendable (GRDB.Database) throws -> Result
    ) async throws -> Result {
        guard let past else { return try await reading(body) }
        return try await past.readingMatches(body)
    }

    /// Returns every matching entity.
    ///
    /// - Throws: ``StorageError`` with `invalid-name` for a column that the entity doesn't have.
    public func fetch() async throws -> [Entity] {
        let run = run
        return try await readingMatches { try run.fetch($0) }
    }

    /// Returns the first matching entity, or nil.
    ///
    /// - Throws: ``StorageError`` as ``FetchableQuery`` says.
    public func fetchOne() async throws -> Entity? {
        let run = run
        return try await readingMatches { try run.fetch($0, limit: 1).first }
    }

    /// Returns the number of matching entities.
    ///
    /// - Throws: ``StorageError`` as ``FetchableQuery`` says.
    public func count() async throws -> Int {
        let run = run
        let isOfPast = past != nil
        return try await readingMatches { try run.count($0, isOfPast: isOfPast) }
    }

    /// Returns whether any entity matches.
    ///
    /// ```swift
    /// let hasPosts = try await storage.query(Post.self).where { $0.authorId == "1" }.exists()
    /// ```
    ///
    /// - Throws: ``StorageError`` as ``FetchableQuery`` says.
    public func exists() async throws -> Bool {
        let run = run
        return try await readingMatches { try run.exists($0) }
    }

    /// Returns a page of entities after a cursor. With an index that fits the order, all pages cost the same, however far from
    /// the beginning.
    /// ```swift
    /// let query = storage.query(Post.self).orderBy(\.createdAt, .descending)
    /// let first = try await query.page(size: 50)
    /// let second = try await query.page(after: first.next, size: 50)
    /// ```
    ///
    /// An offset of the query applies to the first page. A query with a limit has no pages.
    ///
    /// - Parameter cursor: ``QueryPage/next`` of the previous page; nil for the first page.
    /// - Throws: ``StorageError`` with `invalid-argument` for a size below 1, a cursor of another entity or order, or a
    ///   query with a limit; also as ``FetchableQuery`` says.
    public func page(after cursor: PageCursor? = nil, size: Int) async throws -> QueryPage<Entity> {
        let run = run
        return try await readingMatches { try run.page($0, after: cursor, size: size) }
    }

    /// Returns the statement that SQLite runs, and SQLite's plan for it.
    ///
    /// - Throws: ``StorageError`` as ``FetchableQuery`` says.
    public func explain() async throws -> QueryExplanation {
        let run = run
        return try await reading { try run.explain($0) }
    }
}

// MARK: Aggregates

extension FetchableQuery {
    /// Returns the sum of a column; zero if no row matches, if all values are NULL, or if both infinities are among them
    /// (SQLite has no sum then).
    ///
    /// - Throws: ``StorageError`` with `invalid-value` if a sum of integers doesn't fit into the column's type, or at any row exceeds
    ///   64 bits; also as ``FetchableQuery`` says.
    public func sum<Value: StorageColumnValue & AdditiveArithmetic>(
        _ column: KeyPath<Entity.Record.Columns, StorageColumn<Value>>
    ) async throws -> Value {
        try await Value(sum: aggregate("sum", column))
    }

    /// Returns the sum of a column's values that aren't NULL; zero if there is none.
    ///
    /// - Throws: ``StorageError`` with `invalid-value` if a sum of integers doesn't fit into the column's type, or at any row exceeds
    ///   64 bits; also as ``FetchableQuery`` says.
    public func sum<Value: StorageColumnValue & AdditiveArithmetic>(
        _ column: KeyPath<Entity.Record.Columns, StorageColumn<Value?>>
    ) async throws -> Value {
        try await Value(sum: aggregate("sum", column))
    }

    /// Returns the mean of a column's values that aren't NULL; nil if there is none. It is meaningful only for numbers: for a
    /// text, and so for a date, SQLite uses the leading number.
    ///
    /// - Throws: ``StorageError`` as ``FetchableQuery`` says.
    public func average<Value>(_ column: KeyPath<Entity.Record.Columns, StorageColumn<Value>>) async throws -> Double? {
        let value = try await aggregate("avg", column)
        return value == .null ? nil : try Double(storageValue: value)
    }

    /// Returns the minimum of a column's values that aren't NULL; nil if there is none.
    ///
    /// - Throws: ``StorageError`` as ``FetchableQuery`` says.
    public func min<Value: StorageColumnValue>(
        _ column: KeyPath<Entity.Record.Columns, StorageColumn<Value>>
    ) async throws -> Value? {
        let value = try await aggregate("min", column)
        return value == .null ? nil : try Value(storageValue: value)
    }

    /// Returns the maximum of a column's values that aren't NULL; nil if there is none.
    ///
    /// - Throws: ``StorageError`` as ``FetchableQuery`` says.
    public func max<Value: StorageColumnValue>(
        _ column: KeyPath<Entity.Record.Columns, StorageColumn<Value>>
    ) async throws -> Value? {
        let value = try await aggregate("max", column)
        return value == .null ? nil : try Value(storageValue: value)
    }

    /// Returns the number of distinct values of a column, not counting NULL.
    ///
    /// - Throws: ``StorageError`` as ``FetchableQuery`` says.
    public func count<Value>(distinct column: KeyPath<Entity.Record.Columns, StorageColumn<Value>>) async throws -> Int
    {
        let run = run
        let name = Entity.Record.columns[keyPath: column].name
        return try await readingMatches { db in
            guard case .integer(let count) = try run.aggregate("count", of: name, distinct: true, in: db) else {
                return 0
            }
            return Int(count)
        }
    }

    private func aggregate<Value>(
        _ function: String, _ column: KeyPath<Entity.Record.Columns, StorageColumn<Value>>
    ) async throws -> StorageValue {
        let run = run
        let name = Entity.Record.columns[keyPath: column].name
        return try await readingMatches { try run.aggregate(function, of: name, in: $0) }
    }
}
