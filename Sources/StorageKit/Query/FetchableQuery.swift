public import GRDB
public import StorageCore
public import StorageEntities
public import StorageLog

/// A query that reads on its own, without a transaction around it: of the store as it is (``Query``) or as it was
/// (``SnapshotQuery``).
///
/// Every call throws ``StorageError``: `closed` where the store is closed, `not-found` where the entity has no table because it wasn't declared
/// when the store was opened, `invalid-name` for a column that it doesn't have, `invalid-argument` for a negative limit or offset, and
/// `invalid-value` where a row holds what a property's type can't.
public protocol FetchableQuery: EntityQuery, Sendable {
    /// Runs `body` on the state of the store that is asked.
    func reading<Result: Sendable>(_ body: @escaping @Sendable (GRDB.Database) throws -> Result) async throws -> Result
}

extension FetchableQuery {
    private var run: QueryRun<Entity> { QueryRun(request: request) }

    /// Every entity that fits.
    ///
    /// - Throws: ``StorageError`` with `invalid-name` for a column that the entity doesn't have.
    public func fetch() async throws -> [Entity] {
        let run = run
        return try await reading { try run.fetch($0) }
    }

    /// The first entity that fits.
    ///
    /// - Throws: ``StorageError`` as ``FetchableQuery`` says.
    public func fetchOne() async throws -> Entity? {
        let run = run
        return try await reading { try run.fetch($0, limit: 1).first }
    }

    /// How many entities fit.
    ///
    /// - Throws: ``StorageError`` as ``FetchableQuery`` says.
    public func count() async throws -> Int {
        let run = run
        return try await reading { try run.count($0) }
    }

    /// Whether any entity fits.
    ///
    /// - Throws: ``StorageError`` as ``FetchableQuery`` says.
    public func exists() async throws -> Bool {
        let run = run
        return try await reading { try run.exists($0) }
    }

    /// A page of entities after a cursor. However far it is from the beginning, it costs the same where an
    /// index fits the order.
    ///
    /// ```swift
    /// let query = storage.query(Post.self).orderBy(\.createdAt, .descending)
    /// let first = try await query.page(size: 50)
    /// let second = try await query.page(after: first.next, size: 50)
    /// ```
    ///
    /// - Parameter cursor: The `next` of the page before; nil for the first page.
    /// - Throws: ``StorageError`` with `invalid-argument` for a size below 1 and a cursor of another query; also as
    ///   ``FetchableQuery`` says.
    public func page(after cursor: PageCursor? = nil, size: Int) async throws -> QueryPage<Entity> {
        let run = run
        return try await reading { try run.page($0, after: cursor, size: size) }
    }

    /// What SQLite is asked, and how it goes about it.
    ///
    /// - Throws: ``StorageError`` as ``FetchableQuery`` says.
    public func explain() async throws -> QueryExplanation {
        let run = run
        return try await reading { try run.explain($0) }
    }
}

// MARK: Aggregates

extension FetchableQuery {
    /// The sum of a column; zero where no row fits or all are NULL.
    ///
    /// - Throws: Where a sum of integers is beyond 64 bits.
    public func sum<Value: StorageColumnValue & AdditiveArithmetic>(
        _ column: KeyPath<Entity.Record.Columns, StorageColumn<Value>>
    ) async throws -> Value {
        let value = try await aggregate("sum", column)
        return value == .null ? .zero : try Value(storageValue: value)
    }

    /// The sum of a column's values that aren't NULL.
    ///
    /// - Throws: ``StorageError`` with `database` where a sum of integers is beyond 64 bits; also as
    ///   ``FetchableQuery`` says.
    public func sum<Value: StorageColumnValue & AdditiveArithmetic>(
        _ column: KeyPath<Entity.Record.Columns, StorageColumn<Value?>>
    ) async throws -> Value {
        let value = try await aggregate("sum", column)
        return value == .null ? .zero : try Value(storageValue: value)
    }

    /// The mean of a column's values that aren't NULL; nil where there is none. For numbers: of a date, as of every text,
    /// SQLite takes the number that it begins with.
    ///
    /// - Throws: ``StorageError`` as ``FetchableQuery`` says.
    public func average<Value>(_ column: KeyPath<Entity.Record.Columns, StorageColumn<Value>>) async throws -> Double? {
        let value = try await aggregate("avg", column)
        return value == .null ? nil : try Double(storageValue: value)
    }

    /// The least value of a column that isn't NULL.
    ///
    /// - Throws: ``StorageError`` as ``FetchableQuery`` says.
    public func min<Value: StorageColumnValue>(
        _ column: KeyPath<Entity.Record.Columns, StorageColumn<Value>>
    ) async throws -> Value? {
        let value = try await aggregate("min", column)
        return value == .null ? nil : try Value(storageValue: value)
    }

    /// The greatest value of a column that isn't NULL.
    ///
    /// - Throws: ``StorageError`` as ``FetchableQuery`` says.
    public func max<Value: StorageColumnValue>(
        _ column: KeyPath<Entity.Record.Columns, StorageColumn<Value>>
    ) async throws -> Value? {
        let value = try await aggregate("max", column)
        return value == .null ? nil : try Value(storageValue: value)
    }

    /// How many different values a column has, NULL not counted.
    ///
    /// - Throws: ``StorageError`` as ``FetchableQuery`` says.
    public func count<Value>(distinct column: KeyPath<Entity.Record.Columns, StorageColumn<Value>>) async throws -> Int
    {
        let run = run
        let name = Entity.Record.columns[keyPath: column].name
        return try await reading { db in
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
        return try await reading { try run.aggregate(function, of: name, in: $0) }
    }
}
