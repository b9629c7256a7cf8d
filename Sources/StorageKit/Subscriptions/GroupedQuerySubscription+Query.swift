internal import StorageEntities
public import StorageViews

extension GroupedQuerySubscription {
    /// Follows the rows that a query finds, in groups.
    ///
    /// - Parameters:
    ///   - groupBy: The property to group by; any property of the entity.
    ///   - start: Whether the first value is available when the initialiser returns.
    public convenience init(
        _ query: some SubscribableQuery<Entity>, groupBy: any KeyPath<Entity, GroupKey> & Sendable,
        configuration: Configuration,
        start: SubscriptionStart = .automatic
    ) {
        self.init(query.subscriptionSource.engine, query.request, configuration: configuration, start: start) {
            $0[keyPath: groupBy]
        }
    }

    /// Follows the rows that a query finds, in groups in the order of their keys.
    public convenience init(
        _ query: some SubscribableQuery<Entity>, groupBy: any KeyPath<Entity, GroupKey> & Sendable,
        start: SubscriptionStart = .automatic
    ) where GroupKey: Comparable {
        self.init(query, groupBy: groupBy, configuration: Configuration(), start: start)
    }

    /// Follows the repository's rows that a query finds, or all of them if there is no query, in groups.
    public convenience init(
        repository: some StorageRepository<Entity>, baseQuery: Query<Entity>? = nil,
        groupBy: any KeyPath<Entity, GroupKey> & Sendable,
        configuration: Configuration, start: SubscriptionStart = .automatic
    ) { self.init(baseQuery ?? repository.query(), groupBy: groupBy, configuration: configuration, start: start) }

    /// Follows the repository's rows that a query finds, or all if there is no query, in groups in the order of their keys.
    public convenience init(
        repository: some StorageRepository<Entity>, baseQuery: Query<Entity>? = nil,
        groupBy: any KeyPath<Entity, GroupKey> & Sendable,
        start: SubscriptionStart = .automatic
    ) where GroupKey: Comparable { self.init(baseQuery ?? repository.query(), groupBy: groupBy, start: start) }
}

extension StorageRepository {
    /// Follows what a query finds, in groups; all rows if there is no query.
    ///
    /// ```swift
    /// let byStatus = orders.subscribeGrouped(
    ///     groupBy: \.status, configuration: .init(fixedGroups: ["open", "paid"], maxItemsPerGroup: 5))
    /// ```
    @MainActor public func subscribeGrouped<GroupKey: Hashable & Sendable>(
        baseQuery: Query<E>? = nil, groupBy: any KeyPath<E, GroupKey> & Sendable,
        configuration: GroupedQuerySubscription<E, GroupKey>.Configuration, start: SubscriptionStart = .automatic
    ) -> GroupedQuerySubscription<E, GroupKey> {
        GroupedQuerySubscription(
            baseQuery ?? query(), groupBy: groupBy, configuration: configuration, start: start)
    }

    /// Follows what a query finds, in groups in the order of their keys.
    ///
    /// ```swift
    /// let byStatus = orders.subscribeGrouped(groupBy: \.status)
    /// for section in byStatus.sections { print(section.key, section.items.count, "of", section.count) }
    /// ```
    @MainActor public func subscribeGrouped<GroupKey: Hashable & Sendable & Comparable>(
        baseQuery: Query<E>? = nil, groupBy: any KeyPath<E, GroupKey> & Sendable, start: SubscriptionStart = .automatic
    ) -> GroupedQuerySubscription<E, GroupKey> {
        GroupedQuerySubscription(baseQuery ?? query(), groupBy: groupBy, start: start)
    }
}
