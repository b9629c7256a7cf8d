public import StorageCore
public import StorageEntities
public import StorageViews

/// What a query's rows are, live: see ``LiveQuery``.
public typealias LiveList<Entity: RegisteredEntity> = LiveQuery<[Entity], ListDifference<Entity>>

extension SubscribableQuery {
    /// The rows that the query finds, kept up to date for any actor.
    ///
    /// ```swift
    /// let open = storage.query(Task.self).where { $0.isDone == false }.orderBy(\.due).limit(20).live()
    /// for try await tasks in open.snapshots { … }
    /// ```
    ///
    /// A commit costs a reader what the changed rows cost. Conditions in SQL of your own, and collations that the program
    /// has brought, are only understood by the database: with them each change of the table reads the rows again. Where SQL of
    /// your own looks at other tables, their changes aren't followed: say it by `has` or `hasNo`, or follow it whole by
    /// ``Storage/live(tracking:)``.
    public func live() -> LiveList<Entity> { .list(subscriptionSource.engine, request) }

    /// The rows that the query finds, with aggregates of the rows of a property marked `@StorageHasMany`, kept up to date
    /// for any actor.
    ///
    /// ```swift
    /// for try await authors in storage.query(Author.self).live(aggregating: \.books, .count).snapshots { … }
    /// ```
    ///
    /// A changed related row costs its old and its new owner: nothing is counted again.
    ///
    /// - Parameters:
    ///   - aggregates: What is wanted of the related rows.
    ///   - condition: Which of them count.
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
    ///   - aggregates: What is wanted of the related rows.
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
    /// - Parameter aggregates: What is wanted; the value is that of the only one, or a tuple of all in their order.
    public func liveAggregates<each Part: Sendable>(
        _ aggregates: repeat Aggregate<Entity, each Part>
    ) -> LiveQuery<(repeat each Part), ValueDifference<(repeat each Part)>> {
        .aggregates(subscriptionSource.engine, request, reading: AggregateReading(repeat each aggregates))
    }

    /// Counts, sums, means and extremes of the rows with each value of a column, kept up to date for any actor, in SQLite's
    /// order of the column.
    ///
    /// - Parameters:
    ///   - aggregates: What is wanted of each group; its value is that of the only one, or a tuple of all in their order.
    ///   - column: What rows are grouped by.
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
    ///   - key: What rows are grouped by: any property of the entity.
    ///   - configuration: The order of the groups, and what is shown of them.
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

    /// What a text finds among the rows that the query finds, kept up to date for any actor.
    ///
    /// - Parameter configuration: How it is searched: in columns, or in the full-text index, best results first.
    public func liveSearch(
        _ text: String, configuration: SearchSubscription<Entity>.Configuration = .fullText()
    ) -> LiveQuery<[SearchResult<Entity>], ListDifference<SearchResult<Entity>>> {
        let source = subscriptionSource
        return .search(source.engine, request, text, indexes: source.searchIndexes, configuration: configuration)
    }
}
