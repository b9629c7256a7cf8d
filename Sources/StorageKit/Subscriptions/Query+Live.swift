public import StorageCore
public import StorageEntities
public import StorageViews

/// A live query of the rows that a query finds: see ``LiveQuery``.
public typealias LiveList<Entity: RegisteredEntity> = LiveQuery<[Entity], ListDifference<Entity>>

extension SubscribableQuery {
    /// Returns a live query of the rows that this query finds; any actor can follow it.
    ///
    /// ```swift
    /// let open = storage.query(Task.self).where { $0.isDone == false }.orderBy(\.due).limit(20).live()
    /// for try await tasks in open.snapshots { … }
    /// ```
    ///
    /// A commit costs each reader time proportional to the changed rows. Only the database can evaluate custom SQL conditions
    /// and custom collations: with them, each change of the table reads the rows again, and so does each change of another
    /// table that the SQL reads. Often `has` or `hasNo` can express such a condition. To follow a whole query in SQL, use
    /// ``Storage/live(tracking:)``.
    public func live() -> LiveList<Entity> { .list(subscriptionSource.engine, request) }

    /// Returns a live query of the rows that this query finds, with aggregates of their rows of a property marked
    /// `@StorageHasMany`; any actor can follow it.
    ///
    /// ```swift
    /// for try await authors in storage.query(Author.self).live(aggregating: \.books, .count).snapshots { … }
    /// ```
    ///
    /// A change of a related row updates only its old and its new owner; nothing is counted again.
    ///
    /// - Parameters:
    ///   - aggregates: The aggregates to compute over the related rows.
    ///   - condition: Which related rows are aggregated.
    public func live<Child: RegisteredEntity, each Part: Sendable>(
        aggregating children: KeyPath<Entity, [Child]>, _ aggregates: repeat Aggregate<Child, each Part>,
        where condition: (ColumnRef<Child>) -> RowPredicate = { _ in .constant(true) }
    ) -> LiveQuery<
        [AggregatedEntity<Entity, (repeat each Part)>], ListDifference<AggregatedEntity<Entity, (repeat each Part)>>
    > { live(aggregating: children, repeat each aggregates, matching: relatedRequest().where(condition)) }

    /// Returns a live query of the rows that this query finds, with aggregates of those rows of a property marked
    /// `@StorageHasMany` that another query finds; any actor can follow it.
    ///
    /// - Parameters:
    ///   - aggregates: The aggregates to compute over the related rows.
    ///   - query: Which of them are aggregated; it may have conditions on related rows, but no limit and no offset.
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

    /// Returns a live query of the first row that this query finds, or nil while there is none; any actor can follow it.
    ///
    /// ```swift
    /// let newest = storage.query(Post.self).orderBy(\.createdAt, .descending).liveFirst()
    /// for try await post in newest.snapshots { print(post?.title ?? "none") }
    /// ```
    public func liveFirst() -> LiveQuery<Entity?, ValueDifference<Entity?>> {
        .first(subscriptionSource.engine, request)
    }

    /// Returns a live query of the number of rows that this query finds; any actor can follow it.
    ///
    /// ```swift
    /// for try await count in storage.query(Task.self).where({ $0.isDone == false }).liveCount().snapshots {
    ///     print(count)
    /// }
    /// ```
    public func liveCount() -> LiveQuery<Int, ValueDifference<Int>> { liveAggregates(.count) }

    /// Returns a live query of counts, sums, means and extremes of the rows that this query finds; any actor can follow it.
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

    /// Returns a live query of counts, sums, means and extremes of the rows with each value of a column, in SQLite's order of
    /// the column; any actor can follow it.
    ///
    /// ```swift
    /// let totals = storage.query(Order.self).liveAggregates(.count, .sum(\.total), groupedBy: \.status)
    /// for try await groups in totals.snapshots {
    ///     for group in groups { print(group.key, group.value.0, group.value.1) }
    /// }
    /// ```
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

    /// Returns a live query of the rows that this query finds, in groups; any actor can follow it.
    ///
    /// ```swift
    /// let orders = storage.query(Order.self).liveGroups(
    ///     by: \.status, configuration: .init(sortGroupsBy: .count(ascending: false), maxItemsPerGroup: 5))
    /// ```
    ///
    /// For every row that the query finds, even if it isn't shown, some hundred bytes of index are kept in memory. The query
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

    /// Returns a live query of the rows that this query finds, in groups in the order of their keys; any actor can follow it.
    ///
    /// ```swift
    /// for try await sections in storage.query(Order.self).liveGroups(by: \.status).snapshots {
    ///     for section in sections { print(section.key, section.count) }
    /// }
    /// ```
    public func liveGroups<Key: Hashable & Sendable & Comparable>(
        by key: any KeyPath<Entity, Key> & Sendable
    ) -> LiveQuery<[GroupSection<Key, Entity>], GroupDifference<Key, Entity>> {
        liveGroups(by: key, configuration: .init())
    }

    /// Returns a live query of those rows of this query that a text search finds; any actor can follow it.
    ///
    /// ```swift
    /// for try await results in storage.query(Article.self).liveSearch("swift concur").snapshots {
    ///     for result in results { print(result.entity.title, result.rank) }
    /// }
    /// ```
    ///
    /// - Parameter configuration: How to search: in columns, or in the full-text index, with the best results first.
    public func liveSearch(
        _ text: String, configuration: SearchSubscription<Entity>.Configuration = .fullText()
    ) -> LiveQuery<[SearchResult<Entity>], ListDifference<SearchResult<Entity>>> {
        let source = subscriptionSource
        return .search(source.engine, request, text, indexes: source.searchIndexes, configuration: configuration)
    }
}
