internal import StorageEntities
public import StorageViews

extension QuerySubscription {
    /// Follows the rows that a query finds.
    ///
    /// - Parameter start: Whether the first value is available when the initialiser returns.
    public convenience init(_ query: some SubscribableQuery<Entity>, start: SubscriptionStart = .automatic) {
        self.init(query.subscriptionSource.engine, query.request, start: start)
    }

    /// Follows the repository's rows that a query finds; all of them if there is no query.
    public convenience init(
        repository: some StorageRepository<Entity>, query: Query<Entity>? = nil, start: SubscriptionStart = .automatic
    ) { self.init(query ?? repository.query(), start: start) }
}

extension SingleQuerySubscription {
    /// Follows the first row that a query finds.
    public convenience init(_ query: some SubscribableQuery<Entity>, start: SubscriptionStart = .automatic) {
        self.init(query.subscriptionSource.engine, query.request, start: start)
    }

    /// Follows the first of a repository's rows that a query finds.
    public convenience init(
        repository: some StorageRepository<Entity>, query: Query<Entity>? = nil, start: SubscriptionStart = .automatic
    ) { self.init(query ?? repository.query(), start: start) }
}

extension PaginatedQuerySubscription {
    /// Follows the rows that a query finds, in pages; the query has no limit and no offset.
    public convenience init(
        _ query: some SubscribableQuery<Entity>, pageSize: Int = 20, prefetchThreshold: Int = 5,
        style: Style = .numbered,
        start: SubscriptionStart = .automatic
    ) {
        self.init(
            query.subscriptionSource.engine, query.request, pageSize: pageSize, prefetchThreshold: prefetchThreshold,
            style: style, start: start)
    }

    /// Follows the repository's rows that a query finds, in pages.
    public convenience init(
        repository: some StorageRepository<Entity>, query: Query<Entity>? = nil, pageSize: Int = 20,
        prefetchThreshold: Int = 5, style: Style = .numbered, start: SubscriptionStart = .automatic
    ) {
        self.init(
            query ?? repository.query(), pageSize: pageSize, prefetchThreshold: prefetchThreshold, style: style,
            start: start)
    }
}
