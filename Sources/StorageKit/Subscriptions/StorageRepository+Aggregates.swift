public import StorageCore
internal import StorageEntities
public import StorageViews

extension StorageRepository {
    /// Counts what a query finds; all rows if there is no query.
    ///
    /// ```swift
    /// let open = tasks.subscribeCount(query: tasks.query().where { $0.isDone == false })
    /// print(open.count)
    /// ```
    @MainActor public func subscribeCount(
        query: Query<E>? = nil, start: SubscriptionStart = .automatic
    ) -> CountSubscription<E> { CountSubscription(query ?? self.query(), start: start) }

    /// Sums up what a query finds: `orders.subscribeAggregate(.count, .sum(\.total))`.
    ///
    /// ```swift
    /// let totals = orders.subscribeAggregate(.count, .sum(\.total))
    /// let (count, sum) = totals.value
    /// ```
    @MainActor public func subscribeAggregate<each Part: Sendable>(
        query: Query<E>? = nil, _ aggregates: repeat Aggregate<E, each Part>, start: SubscriptionStart = .automatic
    ) -> AggregationSubscription<E, (repeat each Part)> {
        AggregationSubscription(query ?? self.query(), repeat each aggregates, start: start)
    }

    /// Sums up what a query finds, for each value of a column.
    ///
    /// ```swift
    /// let totals = orders.subscribeAggregate(.count, .sum(\.total), groupedBy: \.status)
    /// for group in totals.groups { print(group.key, group.value.0, group.value.1) }
    /// ```
    @MainActor public func subscribeAggregate<Key: Hashable & Sendable, each Part: Sendable>(
        query: Query<E>? = nil, _ aggregates: repeat Aggregate<E, each Part>,
        groupedBy column: KeyPath<E.Record.Columns, StorageColumn<Key>>, start: SubscriptionStart = .automatic
    ) -> GroupedAggregationSubscription<E, Key, (repeat each Part)> {
        GroupedAggregationSubscription(
            query ?? self.query(), repeat each aggregates, groupedBy: column, start: start)
    }
}
