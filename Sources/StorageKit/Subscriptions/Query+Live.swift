public import StorageCore
public import StorageEntities
public import StorageViews

/// A live query of a query's rows: see ``LiveQuery``.
public typealias LiveList<Entity: RegisteredEntity> = LiveQuery<[Entity], ListDifference<Entity>>

extension SubscribableQuery {
    /// The rows that the query finds, kept up to date for any actor.
    ///
    /// ```swift
    /// let open = storage.query(Task.self).where { $0.isDone == false }.orderBy(\.due).limit(20).live()
    /// for try await tasks in open.snapshots { … }
    /// ```
    ///
    /// A commit costs a reader time proportional to the changed rows. Custom SQL conditions and custom collations can only be evaluated by the
    /// database: with them each change of the table reads the rows again. If custom SQL reads other tables, their changes aren't followed: express
    /// the condition with `has` or `hasNo`, or follow the whole query with ``Storage/live(tracking:)``.
    public func live() -> LiveList<Entity> { .list(subscriptionSource.engine, request) }

    /// The rows that the query finds, with aggregates of the rows of a property marked `@StorageHasMany`, kept up to date
    /// for any actor.
    ///
    /// ```swift
    /// for try await authors in storage.query(Author.self).live(aggregating: \.books, .count).snapshots { … }
    /// ```
    ///
    /// A changed related row updates its old and its new owner only: nothing is counted again.
    ///
    /// - Parameters:
    ///   - aggregates: The aggregates to compute over the related rows.
    ///   - condition: Which related rows count.
    public func live<Child: RegisteredEntity, each Part: Sendable>(
        aggregating children: KeyPath<Entity, [Child]>, _ aggregates: repeat Aggregate<Child, each Part>,
        where condition: (ColumnRef<Child>) -> RowPredicate = { _ in .constant(true) }
    ) -> LiveQuery<
        [AggregatedEntity<Entity, (repeat each Part)>], ListDifference<AggregatedEntity<Entity, (repeat each Part)>>
    > { live(aggregating: children, repeat each aggregates, matching: relatedRequest().where(condition)) }

    /// The rows that the query finds, with aggregates of those rows of a property marked `@StorageHasMany` that another query
    /// finds, kept up to date for any actor.
    ///
    /// - Parameters:
    ///   - aggregates: The aggregates to compute over the related rows.
    ///   - query: Which of them count; it may have conditions on related rows, and no limit and no offset.
    public func live<Child: RegisteredEntity, each Part: Sendable>(
        aggregating children: KeyPath<Entity, [Child]>, _ aggregates: repeat Aggregate<Child, each Part>,
        matching query: QueryRequest<Child>
    ) -> LiveQuery<
        [AggregatedEntity<Entity, (repeat each Part)>], ListDifference<AggregatedEntity<Entity, (repeat each Part)>>
    > {
        let reading = AggregateReading(repeat each aggregates)
        let (query, related) = related(children, reading.terms, query)
        return .list(subscriptionSource.engine, query.request, with: related, reading: reading)
    }

    /// The first row that the query finds, kept up to date for any actor; nil while there is none.
    public func liveFirst() -> LiveQuery<Entity?, ValueDifference<Entity?>> {
        .first(subscriptionSource.engine, request)
    }

    /// How many rows the query finds, kept up to date for any actor.
    public func liveCount() -> LiveQuery<Int, ValueDifference<Int>> { liveAggregates(.count) }

    /// Counts, sums, means and extremes of the rows that the query finds, kept up to date for any actor.
    ///
    /// ```swift
    /// for try await (count, sum) in storage.query(Order.self).liveAggregates(.count, .sum(\.total)).snapshots { … }
    /// ```
    ///
    /// - Parameter aggregates: The aggregates to compute; the value is the result of a single one, or a tuple of all in their order.
    public func liveAggregates<each Part: Sendable>(
        _ aggregates: repeat Aggregate<Entity, each Part>
    ) -> LiveQuery<(repeat each Part), ValueDifference<(repeat each Part)>> {
        .aggregates(subscriptionSource.engine, request, reading: AggregateReading(repeat each aggregates))
    }

    /// Counts, sums, means and extremes of the rows with each value of a column, kept up to date for any actor, in SQLite's
    /// order of the column.
    ///
    /// - Parameters:
    ///   - aggregates: The aggregates to compute for each group; its value is the result of a single one, or a tuple of all in their order.
    ///   - column: The column to group by.
    public func liveAggregates<Key: Hashable & Sendable, each Part: Sendable>(
        _ aggregates: repeat Aggregate<Entity, each Part>,
        groupedBy column: KeyPath<Entity.Record.Columns, StorageColumn<Key>>
    ) -> LiveQuery<
        [AggregateGroup<Key, (repeat each Part)>], ListDifference<AggregateGroup<Key, (repeat each Part)>>
    > {
        .aggregates(
            subscriptionSource.engine, request, reading: AggregateReading(repeat each aggregates),
            groupedBy: Entity.Record.columns[keyPath: column])
    }

    /// The rows that the query finds in groups, kept up to date for any actor.
    ///
    /// It keeps the index of each row that the query finds, some hundred bytes, also of those that aren't shown. The query
    /// has no limit and no offset.
    ///
    /// - Parameters:
    ///   - key: The property to group by; any property of the entity.
    ///   - configuration: The order of the groups, and which of their rows are shown.
    public func liveGroups<Key: Hashable & Sendable>(
        by key: any KeyPath<Entity, Key> & Sendable,
        configuration: GroupedQuerySubscription<Entity, Key>.Configuration
    ) -> LiveQuery<[GroupSection<Key, Entity>], GroupDifference<Key, Entity>> {
        .groups(subscriptionSource.engine, request, configuration) { $0[keyPath: key] }
    }

    /// The rows that the query finds in groups in the order of their keys, kept up to date for any actor.
    public func liveGroups<Key: Hashable & Sendable & Comparable>(
        by key: any KeyPath<Entity, Key> & Sendable
    ) -> LiveQuery<[GroupSection<Key, Entity>], GroupDifference<Key, Entity>> {
        liveGroups(by: key, configuration: .init())
    }

    /// The rows that a text search finds among those of the query, kept up to date for any actor.
    ///
    /// - Parameter configuration: How to search: in columns, or in the full-text index, best results first.
    public func liveSearch(
        _ text: String, configuration: SearchSubscription<Entity>.Configuration = .fullText()
    ) -> LiveQuery<[SearchResult<Entity>], ListDifference<SearchResult<Entity>>> {
        let source = subscriptionSource
        return .search(source.engine, request, text, indexes: source.searchIndexes, configuration: configuration)
    }
}
