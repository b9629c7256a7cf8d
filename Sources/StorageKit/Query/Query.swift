public import StorageCore
public import StorageLog
public import StorageProjections

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
public struct Query<Entity: RegisteredEntity>: EntityQuery, Sendable {
    public var request = QueryRequest<Entity>()
    private let storage: Storage

    init(storage: Storage) { self.storage = storage }

    private var run: QueryRun<Entity> { QueryRun(request: request) }

    /// Every entity that fits.
    ///
    /// - Throws: ``StorageError`` with `invalid-name` for a column that the entity doesn't have.
    public func fetch() async throws -> [Entity] {
        let run = run
        return try await storage.engine.read { try run.fetch($0) }
    }

    /// The first entity that fits.
    public func fetchOne() async throws -> Entity? {
        let run = run
        return try await storage.engine.read { try run.fetch($0, limit: 1).first }
    }

    /// How many entities fit.
    public func count() async throws -> Int {
        let run = run
        return try await storage.engine.read { try run.count($0) }
    }

    /// Whether any entity fits.
    public func exists() async throws -> Bool {
        let run = run
        return try await storage.engine.read { try run.exists($0) }
    }

    /// A page of entities behind a place in the order. However far it is from the beginning, it costs the same where an
    /// index fits the order.
    ///
    /// ```swift
    /// let query = storage.query(Post.self).orderBy(\.createdAt, .descending)
    /// let first = try await query.page(size: 50)
    /// let second = try await query.page(after: first.next, size: 50)
    /// ```
    ///
    /// - Parameter cursor: The `next` of the page before; nil for the first page.
    public func page(after cursor: PageCursor? = nil, size: Int) async throws -> QueryPage<Entity> {
        let run = run
        return try await storage.engine.read { try run.page($0, after: cursor, size: size) }
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
    public func updateAll(@AssignmentBuilder _ assignments: (ColumnRef<Entity>) -> [ColumnAssignment]) async throws
        -> Int
    {
        let query = self
        let assignments = assignments(ColumnRef())
        return try await storage.changing { try $0.query(Entity.self, query.request).update(assignments) }
    }

    /// What SQLite is asked, and how it goes about it.
    public func explain() async throws -> QueryExplanation {
        let run = run
        return try await storage.engine.read { try run.explain($0) }
    }
}

// MARK: Aggregates

extension Query {
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
    public func sum<Value: StorageColumnValue & AdditiveArithmetic>(
        _ column: KeyPath<Entity.Record.Columns, StorageColumn<Value?>>
    ) async throws -> Value {
        let value = try await aggregate("sum", column)
        return value == .null ? .zero : try Value(storageValue: value)
    }

    /// The mean of a column's values that aren't NULL; nil where there is none.
    public func average<Value>(_ column: KeyPath<Entity.Record.Columns, StorageColumn<Value>>) async throws -> Double? {
        let value = try await aggregate("avg", column)
        return value == .null ? nil : try Double(storageValue: value)
    }

    /// The least value of a column that isn't NULL.
    public func min<Value: StorageColumnValue>(
        _ column: KeyPath<Entity.Record.Columns, StorageColumn<Value>>
    ) async throws -> Value? {
        let value = try await aggregate("min", column)
        return value == .null ? nil : try Value(storageValue: value)
    }

    /// The greatest value of a column that isn't NULL.
    public func max<Value: StorageColumnValue>(
        _ column: KeyPath<Entity.Record.Columns, StorageColumn<Value>>
    ) async throws -> Value? {
        let value = try await aggregate("max", column)
        return value == .null ? nil : try Value(storageValue: value)
    }

    /// How many different values a column has, NULL not counted.
    public func count<Value>(distinct column: KeyPath<Entity.Record.Columns, StorageColumn<Value>>) async throws -> Int
    {
        let run = run
        let name = Entity.Record.columns[keyPath: column].name
        return try await storage.engine.read { db in
            let query = try QuerySQL(run.request)
            let text = try query.aggregate("count(DISTINCT \(try query.column(named: name)))")
            guard case .integer(let count) = try text.value(db) else { return 0 }
            return Int(count)
        }
    }

    private func aggregate<Value>(
        _ function: String, _ column: KeyPath<Entity.Record.Columns, StorageColumn<Value>>
    ) async throws -> StorageValue {
        let run = run
        let name = Entity.Record.columns[keyPath: column].name
        return try await storage.engine.read { try run.aggregate(function, name, $0) }
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
