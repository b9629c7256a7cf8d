public import StorageCore

/// A query for one entity's rows, built call by call. Each call returns a new query and leaves the original unchanged.
public protocol EntityQuery<Entity> {
    /// The entity that is queried.
    associatedtype Entity: RegisteredEntity
    /// The query so far.
    var request: QueryRequest<Entity> { get set }
}

extension EntityQuery {
    private func with(_ change: (inout QueryRequest<Entity>) -> Void) -> Self {
        var copy = self
        change(&copy.request)
        return copy
    }

    /// Only rows for which the condition is true; several calls must all be.
    public func `where`(_ condition: (ColumnRef<Entity>) -> RowPredicate) -> Self {
        filter(condition(ColumnRef()))
    }

    /// Only rows for which a condition is true that is there already.
    public func `where`(_ condition: RowPredicate) -> Self { filter(condition) }

    /// Only rows for which a condition is true that names its columns by hand:
    /// `.where { Column<String>("home_city") == "Kyiv" }`.
    public func `where`(_ condition: () -> RowPredicate) -> Self { `where`(condition()) }

    /// Only rows for which a condition is true; several calls must all be, those of `where` among them.
    ///
    /// ```swift
    /// Task.all().filter(Task.Columns.isCompleted == true)
    /// ```
    public func filter(_ condition: RowPredicate) -> Self {
        with { request in
            if request.scope != nil { request.check { _ throws(StorageError) in try StorageScope.check(condition) } }
            request.rows.predicate = request.rows.predicate.map { $0 && condition } ?? condition
        }
    }

    /// Sorts by a column; further calls sort rows that are equal in the earlier columns, and the key comes last.
    public func orderBy(_ column: String, _ order: RowOrder = .ascending) -> Self {
        with { $0.rows.orderings.append(RowOrdering(column, order)) }
    }

    /// Sorts by a property's column.
    public func orderBy<Value>(
        _ column: KeyPath<Entity.Record.Columns, StorageColumn<Value>>, _ order: RowOrder = .ascending,
        collation: RowPredicate.Collation? = nil
    ) -> Self {
        let name = Entity.Record.columns[keyPath: column].name
        return with { $0.rows.orderings.append(RowOrdering(name, order, collation: collation)) }
    }

    /// What the compiler reports for a property that isn't there.
    @_disfavoredOverload
    @available(*, unavailable, message: "the entity has no stored property of this name, or it fills several columns")
    public func orderBy(
        _ column: _NoColumn.Path, _ order: RowOrder = .ascending, collation: RowPredicate.Collation? = nil
    ) -> Self { self }

    /// Sorts by a column for which `@StorageEntity` generated a case: `.order(by: .createdAt, .descending)`. Several
    /// calls sort like those of `orderBy`. The columns of embedded properties have no cases; use `orderBy` for them.
    public func order(by column: Entity.Record.ColumnName, _ order: RowOrder = .ascending) -> Self {
        orderBy(column.rawValue, order)
    }

    /// Returns at most this many rows.
    public func limit(_ count: Int) -> Self { with { $0.rows.limit = count } }

    /// Without the first rows. For paging through rows that change, a page behind a cursor is better and faster.
    public func offset(_ count: Int) -> Self { with { $0.rows.offset = count } }
}
