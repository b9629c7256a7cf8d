internal import GRDB
public import StorageCore
public import StorageEntities
internal import StorageLog
public import StorageViews

// Counts and sums of children beside their parents.

extension FetchableQuery {
    /// Returns every matching entity, with aggregates of its rows of a property marked `@StorageHasMany`.
    ///
    /// ```swift
    /// let authors = try await storage.query(Author.self).orderBy(\.name)
    ///     .fetch(aggregating: \.books, .count, .max(\.year)) { $0.year >= 1900 }
    /// print(authors[0].entity.name, authors[0].value)
    /// ```
    ///
    /// All is read from one state. One statement, which uses the foreign key's index, runs for each entity.
    ///
    /// - Parameters:
    ///   - aggregates: The aggregates to compute over the related rows.
    ///   - condition: Which related rows are aggregated.
    /// - Throws: ``StorageError`` with `invalid-argument` for a property that isn't marked; also as ``FetchableQuery`` says.
    public func fetch<Child: RegisteredEntity, each Part: Sendable>(
        aggregating children: KeyPath<Entity, [Child]>, _ aggregates: repeat Aggregate<Child, each Part>,
        isolation: isolated (any Actor)? = #isolation,
        where condition: (ColumnRef<Child>) -> RowPredicate = { _ in .constant(true) }
    ) async throws -> [AggregatedEntity<Entity, (repeat each Part)>] {
        let reading = AggregateReading(repeat each aggregates)
        let (query, related) = related(children, reading.terms, relatedRequest().where(condition))
        return try await query.reading { [request = query.request] db in
            try QueryRun(request: request).fetch(db, with: related, reading: reading)
        }
    }

    /// Returns every matching entity, with aggregates of those rows of a property marked `@StorageHasMany` that another query
    /// finds. That query may have conditions on related rows:
    ///
    /// ```swift
    /// let long = try await storage.query(Author.self)
    ///     .fetch(aggregating: \.books, .count, matching: Book.all().has(\.chapters) { $0.pages > 100 })
    /// ```
    ///
    /// The other query can't have a limit or an offset; its order and its inclusions are ignored.
    ///
    /// - Throws: ``StorageError`` with `invalid-argument` for a property that isn't marked or a query with a limit; also as
    ///   ``FetchableQuery`` says.
    public func fetch<Child: RegisteredEntity, each Part: Sendable>(
        aggregating children: KeyPath<Entity, [Child]>, _ aggregates: repeat Aggregate<Child, each Part>,
        matching query: QueryRequest<Child>
    ) async throws -> [AggregatedEntity<Entity, (repeat each Part)>] {
        let reading = AggregateReading(repeat each aggregates)
        let (query, related) = related(children, reading.terms, query)
        return try await query.reading { [request = query.request] db in
            try QueryRun(request: request).fetch(db, with: related, reading: reading)
        }
    }

    /// Combines the query with the aggregates of its related rows; errors of either are thrown when it runs.
    func related<Child: RegisteredEntity>(
        _ children: KeyPath<Entity, [Child]>, _ terms: [AggregateTerm], _ request: QueryRequest<Child>
    ) -> (query: Self, aggregates: RelatedAggregates) {
        let rows = self.request.scope?.apply(to: request) ?? request
        var query = self
        var foreignKey = ""
        switch Relation.foreignKey(of: children) {
        case .success(let column): foreignKey = column
        case .failure(let error): query.request.rows.invalid = query.request.rows.invalid ?? error
        }
        query.request.rows.invalid =
            query.request.rows.invalid ?? rows.rows.invalid ?? Self.windowError(of: rows)
        let relation = Relation.children(of: Entity.self, Child.self, by: foreignKey)
        query.request.aggregatedTables = rows.tables
        return (query, RelatedAggregates(relation, rows, terms: terms))
    }

    private static func windowError<Child: RegisteredEntity>(of request: QueryRequest<Child>) -> StorageError? {
        guard request.rows.limit != nil || request.rows.offset != 0 else { return nil }
        return StorageError(
            .invalidArgument, "Aggregates of related rows can't have a limit or an offset.",
            remedy:
                "Leave limit and offset out of the query for \"\(EntityTableCache.of(Child.Record.self).name)\".")
    }
}

extension QueryRun {
    fileprivate func fetch<Value>(
        _ db: GRDB.Database, with aggregates: RelatedAggregates, reading: AggregateReading<Value>
    ) throws -> [AggregatedEntity<E, Value>] {
        var found = try EntityRows(request, reading: [aggregates.relation.column])
        try explaining(db) {
            _ = try statement().run(db) { try found.append($0) }
            try found.include(db)
        }
        var text = try aggregates.sql()
        return try StorageError.explaining(table: aggregates.relation.table.name, in: db) {
            try found.entities.enumerated().map { index, entity in
                text.values[0] = found.values[found.values.count - 1][index]
                let values = try text.run(db) { rows in
                    try rows.next() ? (0..<aggregates.count).map { rows.row.value(at: Int32($0)) } : nil
                }
                return AggregatedEntity(entity, try values.map(reading.decode) ?? reading.empty)
            }
        }
    }
}
