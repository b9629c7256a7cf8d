public import StorageCore

/// A query over one entity's rows, built call by call. Each call returns a new query and leaves the original unchanged.
///
/// ```swift
/// func latest<Query: EntityQuery<Post>>(_ query: Query) -> Query {
///     query.orderBy(\.createdAt, .descending).limit(20)
/// }
/// let posts = try await latest(storage.query(Post.self)).fetch()
/// ```
public protocol EntityQuery<Entity> {
    /// The entity that is queried.
    associatedtype Entity: RegisteredEntity
    /// What the query reads.
    var request: QueryRequest<Entity> { get set }
}

extension EntityQuery {
    private func with(_ change: (inout QueryRequest<Entity>) -> Void) -> Self {
        var copy = self
        change(&copy.request)
        return copy
    }

    /// Keeps the rows for which the condition is true. With several calls, all conditions must be true.
    public func `where`(_ condition: (ColumnRef<Entity>) -> RowPredicate) -> Self {
        filter(condition(ColumnRef()))
    }

    /// Keeps the rows for which an existing condition is true.
    public func `where`(_ condition: RowPredicate) -> Self { filter(condition) }

    /// Keeps the rows for which a condition is true that gives its columns by name:
    /// `.where { Column<String>("home_city") == "Kyiv" }`.
    public func `where`(_ condition: () -> RowPredicate) -> Self { `where`(condition()) }

    /// Keeps the rows for which a condition is true. With several calls, including those of `where`, all conditions must be
    /// true.
    ///
    /// ```swift
    /// Task.all().filter(Task.Columns.isCompleted == true)
    /// ```
    public func filter(_ condition: RowPredicate) -> Self {
        with { request in
            var condition = condition
            do throws(StorageError) {
                try condition.checkSize()
                if request.scope != nil { try StorageScope.check(condition) }
            } catch {
                // The call that runs the query throws it; until then nothing reads the condition.
                condition = .constant(false)
                request.rows.invalid = request.rows.invalid ?? error
            }
            request.rows.predicate = request.rows.predicate.map { $0 && condition } ?? condition
        }
    }

    /// Sorts by a column. Each further call sorts the rows that are equal in all earlier columns; the key comes last.
    public func orderBy(_ column: String, _ order: RowOrder = .ascending) -> Self {
        with { $0.rows.orderings.append(RowOrdering(column, order)) }
    }

    /// Sorts by a property's column, as `orderBy` with a name does.
    public func orderBy<Value>(
        _ column: KeyPath<Entity.Record.Columns, StorageColumn<Value>>, _ order: RowOrder = .ascending,
        collation: RowPredicate.Collation? = nil
    ) -> Self {
        let name = Entity.Record.columns[keyPath: column].name
        return with { $0.rows.orderings.append(RowOrdering(name, order, collation: collation)) }
    }

    /// Unavailable: produces the compiler's message for a property that doesn't exist.
    @_disfavoredOverload
    @available(*, unavailable, message: "the entity has no stored property of this name, or it fills several columns")
    public func orderBy(
        _ column: _NoColumn.Path, _ order: RowOrder = .ascending, collation: RowPredicate.Collation? = nil
    ) -> Self { self }

    /// Sorts by a column for which `@StorageEntity` generated a case: `.order(by: .createdAt, .descending)`. Several calls work
    /// like those of `orderBy`. Columns of embedded properties have no cases; use `orderBy` for them.
    public func order(by column: Entity.Record.ColumnName, _ order: RowOrder = .ascending) -> Self {
        orderBy(column.rawValue, order)
    }

    /// Limits the result to a number of rows.
    public func limit(_ count: Int) -> Self { with { $0.rows.limit = count } }

    /// Skips a number of rows. To page through rows that change, a page after a cursor is better and faster.
    ///
    /// ```swift
    /// let next = try await storage.query(User.self).orderBy(\.name).limit(20).offset(40).fetch()
    /// ```
    public func offset(_ count: Int) -> Self { with { $0.rows.offset = count } }
}
