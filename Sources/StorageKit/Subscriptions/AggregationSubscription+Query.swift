public import StorageCore
internal import StorageEntities
public import StorageViews

extension CountSubscription {
    /// Follows the number of rows that a query finds.
    ///
    /// - Parameter start: Whether the first value is available when the initialiser returns.
    public convenience init(_ query: some SubscribableQuery<Entity>, start: SubscriptionStart = .automatic) {
        self.init(query.subscriptionSource.engine, query.request, start: start)
    }

    /// Follows the number of a repository's rows that a query finds; of all of them if there is no query.
    public convenience init(
        repository: some StorageRepository<Entity>, query: Query<Entity>? = nil, start: SubscriptionStart = .automatic
    ) { self.init(query ?? repository.query(), start: start) }
}

extension AggregationSubscription {
    /// Follows aggregates of the rows that a query finds.
    ///
    /// - Parameter aggregates: The aggregates to compute; ``value`` holds the results in this order.
    public convenience init<each Part: Sendable>(
        _ query: some SubscribableQuery<Entity>, _ aggregates: repeat Aggregate<Entity, each Part>,
        start: SubscriptionStart = .automatic
    ) where Value == (repeat each Part) {
        self.init(
            query.subscriptionSource.engine, query.request, reading: AggregateReading(repeat each aggregates),
            start: start)
    }
}

extension GroupedAggregationSubscription {
    /// Follows aggregates of the rows that a query finds, for each value of a column.
    ///
    /// - Parameter aggregates: The aggregates to compute for each group; its `value` holds the results in this order.
    public convenience init<each Part: Sendable>(
        _ query: some SubscribableQuery<Entity>, _ aggregates: repeat Aggregate<Entity, each Part>,
        groupedBy column: KeyPath<Entity.Record.Columns, StorageColumn<Key>>, start: SubscriptionStart = .automatic
    ) where Value == (repeat each Part) {
        self.init(
            query.subscriptionSource.engine, query.request, reading: AggregateReading(repeat each aggregates),
            groupedBy: Entity.Record.columns[keyPath: column], start: start)
    }
}
