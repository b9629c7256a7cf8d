public import StorageEntities
public import StorageKit
public import StorageViews

#if canImport(SwiftUI)
    public import SwiftUI
#endif

/// A page of the rows that a query finds, live, as a property.
///
/// ```swift
/// @PaginatedSubscribe(storage.query(Post.self).orderBy(\.createdAt, .descending), pageSize: 50) var posts
///
/// Button("Next") { Task { await $posts.goToNextPage() } }.disabled(!$posts.hasNextPage)
/// ```
///
/// The value is the page's rows; the projected value is the ``PaginatedQuerySubscription`` that turns pages. It has the
/// same lifetime as a ``QuerySubscribe``.
@MainActor @propertyWrapper
public struct PaginatedSubscribe<Entity: RegisteredEntity> {
    @StateShim private var source: LazySubscription<PaginatedQuerySubscription<Entity>>

    /// Follows the pages of the rows that a query finds. The query must have no limit and no offset.
    ///
    /// - Parameter start: Whether the first page is available on first access.
    public init(
        _ query: some SubscribableQuery<Entity>, pageSize: Int = 20, prefetchThreshold: Int = 5,
        style: PaginatedQuerySubscription<Entity>.Style = .numbered, start: SubscriptionStart = .automatic
    ) {
        let source = LazySubscription {
            PaginatedQuerySubscription(
                query, pageSize: pageSize, prefetchThreshold: prefetchThreshold, style: style, start: start)
        }
        _source = StateShim(wrappedValue: source)
    }

    /// Follows the pages of the rows that a query finds in a repository: of all its rows if `query` is nil.
    public init(
        repository: some StorageRepository<Entity>, query: StorageKit.Query<Entity>? = nil, pageSize: Int = 20,
        prefetchThreshold: Int = 5, style: PaginatedQuerySubscription<Entity>.Style = .numbered,
        start: SubscriptionStart = .automatic
    ) {
        self.init(
            query ?? repository.query(), pageSize: pageSize, prefetchThreshold: prefetchThreshold, style: style,
            start: start)
    }

    /// The page's rows; in the scrolling style all loaded rows.
    public var wrappedValue: [Entity] { source.subscription.currentPage }
    /// The subscription that turns the pages and keeps them up to date.
    public var projectedValue: PaginatedQuerySubscription<Entity> { source.subscription }
}

#if canImport(SwiftUI)
    extension PaginatedSubscribe: DynamicProperty {}
#endif
