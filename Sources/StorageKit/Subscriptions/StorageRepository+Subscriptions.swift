public import StorageViews

extension StorageRepository {
    /// Returns a stream of the entity with this id, first as it is now and then after each of its changes; nil while there is
    /// none.
    public func observe(id: E.Id) -> AsyncStream<E?> { storage.observe(E.self, id: id) }

    /// Returns a stream of all entities, in the order of a column or of the key, first as they are now and then after each
    /// change.
    public func observeAll(orderBy: String? = nil, ascending: Bool = true) -> AsyncStream<[E]> {
        storage.observeAll(E.self, orderBy: orderBy, ascending: ascending)
    }

    /// Like ``observeAll(orderBy:ascending:)``, but leaves out each list that equals the one before.
    public func observeAllDistinct(orderBy: String? = nil, ascending: Bool = true) -> AsyncStream<[E]>
    where E: Equatable { storage.observeAllDistinct(E.self, orderBy: orderBy, ascending: ascending) }

    /// Returns a query over the repository's rows.
    public func query() -> Query<E> { storage.query(E.self) }

    /// Follows what a query finds; all rows if there is no query.
    ///
    /// ```swift
    /// let adults = users.subscribe(query: users.query().where { $0.age >= 18 }.orderBy(\.name))
    /// for await items in adults.snapshots { show(items) }
    /// ```
    @MainActor public func subscribe(
        query: Query<E>? = nil, start: SubscriptionStart = .automatic
    ) -> QuerySubscription<E> { QuerySubscription(query ?? self.query(), start: start) }

    /// Follows the first row that a query finds.
    ///
    /// ```swift
    /// let anna = users.subscribeSingle(query: users.query().where { $0.id == "1" })
    /// ```
    @MainActor public func subscribeSingle(
        query: Query<E>? = nil, start: SubscriptionStart = .automatic
    ) -> SingleQuerySubscription<E> { SingleQuerySubscription(query ?? self.query(), start: start) }

    /// Follows the pages of what a query finds.
    ///
    /// ```swift
    /// let pages = users.subscribePaginated(query: users.query().orderBy(\.name), pageSize: 50)
    /// await pages.goToNextPage()
    /// ```
    @MainActor public func subscribePaginated(
        query: Query<E>? = nil, pageSize: Int = 20, prefetchThreshold: Int = 5,
        style: PaginatedQuerySubscription<E>.Style = .numbered, start: SubscriptionStart = .automatic
    ) -> PaginatedQuerySubscription<E> {
        PaginatedQuerySubscription(
            query ?? self.query(), pageSize: pageSize, prefetchThreshold: prefetchThreshold, style: style, start: start)
    }
}
