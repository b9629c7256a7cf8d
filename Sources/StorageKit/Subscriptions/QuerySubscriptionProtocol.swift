public import StorageEntities
public import StorageViews

/// A live view of a query over a repository's rows that ``SubscriptionFactory`` can create from one configuration value.
///
/// Conform a class of your own that wraps such views, so that generic code can create it too.
@MainActor
public protocol QuerySubscriptionProtocol: SubscriptionStatus {
    associatedtype Model: RegisteredEntity
    associatedtype Configuration: Sendable

    /// - Parameter query: All rows if nil.
    init(repository: AnyRepository<Model>, query: Query<Model>?, configuration: Configuration)
}

extension QuerySubscription: QuerySubscriptionProtocol {
    /// Creates a live view of a repository's rows.
    ///
    /// - Parameter configuration: Whether the first value is available when the initialiser returns.
    public convenience init(
        repository: AnyRepository<Entity>, query: Query<Entity>?, configuration: SubscriptionStart
    ) { self.init(repository: repository, query: query, start: configuration) }
}

extension SingleQuerySubscription: QuerySubscriptionProtocol {
    /// Creates a live view of the first of a repository's rows.
    ///
    /// - Parameter configuration: Whether the first value is available when the initialiser returns.
    public convenience init(
        repository: AnyRepository<Entity>, query: Query<Entity>?, configuration: SubscriptionStart
    ) { self.init(repository: repository, query: query, start: configuration) }
}

extension CountSubscription: QuerySubscriptionProtocol {
    /// Creates a live view of the number of a repository's rows.
    ///
    /// - Parameter configuration: Whether the first value is available when the initialiser returns.
    public convenience init(
        repository: AnyRepository<Entity>, query: Query<Entity>?, configuration: SubscriptionStart
    ) { self.init(repository: repository, query: query, start: configuration) }
}

extension PaginatedQuerySubscription: QuerySubscriptionProtocol {
    /// The size, style and start of the pages.
    public struct Configuration: Sendable {
        /// The number of rows on a page.
        public var pageSize: Int
        /// How many rows before the end the next page is loaded; only in the style `.scrolling`.
        public var prefetchThreshold: Int
        /// How pages follow one another.
        public var style: Style
        /// Whether the first page is available when the initialiser returns.
        public var start: SubscriptionStart

        /// Creates a configuration; without arguments, numbered pages of 20 rows.
        public init(
            pageSize: Int = 20, prefetchThreshold: Int = 5, style: Style = .numbered,
            start: SubscriptionStart = .automatic
        ) {
            self.pageSize = pageSize
            self.prefetchThreshold = prefetchThreshold
            self.style = style
            self.start = start
        }
    }

    public convenience init(
        repository: AnyRepository<Entity>, query: Query<Entity>?, configuration: Configuration
    ) {
        self.init(
            repository: repository, query: query, pageSize: configuration.pageSize,
            prefetchThreshold: configuration.prefetchThreshold, style: configuration.style, start: configuration.start)
    }
}

extension SearchSubscription: QuerySubscriptionProtocol {
    /// Creates a search among a repository's rows.
    ///
    /// - Parameter query: The rows that are searched; all of them if nil.
    public convenience init(
        repository: AnyRepository<Entity>, query: Query<Entity>?, configuration: Configuration
    ) { self.init(repository: repository, baseQuery: query, configuration: configuration) }
}
