public import Foundation
internal import StorageEntities
public import StorageViews

extension SearchSubscription {
    /// Creates a search among the rows that a query finds; a search in columns keeps the query's order.
    public convenience init(_ query: some SubscribableQuery<Entity>, configuration: Configuration) {
        let source = query.subscriptionSource
        self.init(source.engine, query.request, indexes: source.searchIndexes, configuration: configuration)
    }

    /// Creates a search among a repository's rows.
    public convenience init(
        repository: some StorageRepository<Entity>, baseQuery: Query<Entity>? = nil, configuration: Configuration
    ) { self.init(baseQuery ?? repository.query(), configuration: configuration) }
}

extension StorageRepository {
    /// A search among the rows that a query finds.
    ///
    /// ```swift
    /// let search = articles.subscribeSearch(configuration: .fullText())
    /// search.searchText = "swift concur"
    /// ```
    @MainActor public func subscribeSearch(
        baseQuery: Query<E>? = nil, configuration: SearchSubscription<E>.Configuration
    ) -> SearchSubscription<E> { SearchSubscription(baseQuery ?? query(), configuration: configuration) }

    /// A search in columns.
    ///
    /// ```swift
    /// let search = articles.subscribeSearch(searchFields: ["title", "content"])
    /// search.searchText = "swift"
    /// ```
    @MainActor public func subscribeSearch(
        searchFields: [String], debounceInterval: TimeInterval = 0.3
    ) -> SearchSubscription<E> {
        subscribeSearch(
            configuration: .init(searchFields: searchFields, debounceInterval: debounceInterval))
    }
}
