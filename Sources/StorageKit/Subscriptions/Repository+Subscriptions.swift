internal import StorageProjections
public import StorageSubscriptions

extension AnyRepository {
    /// A query over the repository's rows.
    public func query() -> Query<E> { base.storage.query(E.self) }

    /// Follows what a query finds; all rows where there is none.
    @MainActor public func subscribe(
        query: Query<E>? = nil, start: SubscriptionStart = .immediate
    ) -> QuerySubscription<E> { QuerySubscription(query ?? self.query(), start: start) }

    /// Follows the first row that a query finds.
    @MainActor public func subscribeSingle(
        query: Query<E>? = nil, start: SubscriptionStart = .immediate
    ) -> SingleQuerySubscription<E> { SingleQuerySubscription(query ?? self.query(), start: start) }

    /// Follows the pages of what a query finds.
    @MainActor public func subscribePaginated(
        query: Query<E>? = nil, pageSize: Int = 20, prefetchThreshold: Int = 5,
        style: PaginatedQuerySubscription<E>.Style = .numbered, start: SubscriptionStart = .immediate
    ) -> PaginatedQuerySubscription<E> {
        PaginatedQuerySubscription(
            query ?? self.query(), pageSize: pageSize, prefetchThreshold: prefetchThreshold, style: style, start: start)
    }
}

extension GenericRepository {
    /// A query over the repository's rows.
    public func query() -> Query<E> { storage.query(E.self) }

    /// Follows what a query finds; all rows where there is none.
    @MainActor public func subscribe(
        query: Query<E>? = nil, start: SubscriptionStart = .immediate
    ) -> QuerySubscription<E> { erased.subscribe(query: query, start: start) }

    /// Follows the first row that a query finds.
    @MainActor public func subscribeSingle(
        query: Query<E>? = nil, start: SubscriptionStart = .immediate
    ) -> SingleQuerySubscription<E> { erased.subscribeSingle(query: query, start: start) }

    /// Follows the pages of what a query finds.
    @MainActor public func subscribePaginated(
        query: Query<E>? = nil, pageSize: Int = 20, prefetchThreshold: Int = 5,
        style: PaginatedQuerySubscription<E>.Style = .numbered, start: SubscriptionStart = .immediate
    ) -> PaginatedQuerySubscription<E> {
        erased.subscribePaginated(
            query: query, pageSize: pageSize, prefetchThreshold: prefetchThreshold, style: style, start: start)
    }
}
