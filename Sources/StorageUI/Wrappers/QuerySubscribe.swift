public import StorageEntities
public import StorageKit
public import StorageViews

#if canImport(SwiftUI)
    public import SwiftUI
#endif

/// The rows that a query finds, live, as a property.
///
/// ```swift
/// struct UserList: View {
///     @QuerySubscribe(storage.query(User.self).where { $0.isActive == true }.orderBy(\.name)) var users
///
///     var body: some View {
///         List(users) { Text($0.name) }.withSubscriptionError($users)
///     }
/// }
/// ```
///
/// The value is the rows; the projected value (`$users`) is the ``QuerySubscription`` that keeps them up to date. The
/// first access reads them.
///
/// In a SwiftUI view it lives as long as the view is on the screen, and keeps its initial query: give the view an `id`
/// made of the values that the query depends on. In any other object it lives as long as the object; in an
/// `@Observable` class, mark it `@ObservationIgnored`, because the rows are observed anyway.
@MainActor @propertyWrapper
public struct QuerySubscribe<Entity: RegisteredEntity> {
    @StateShim private var source: LazySubscription<QuerySubscription<Entity>>

    /// Follows the rows that a query finds.
    ///
    /// - Parameter start: Whether the rows are available on first access.
    public init(_ query: some SubscribableQuery<Entity>, start: SubscriptionStart = .automatic) {
        _source = StateShim(wrappedValue: LazySubscription { QuerySubscription(query, start: start) })
    }

    /// Follows the rows that a query finds in a repository: all its rows if `query` is nil.
    public init(
        repository: some StorageRepository<Entity>, query: StorageKit.Query<Entity>? = nil,
        start: SubscriptionStart = .automatic
    ) { self.init(query ?? repository.query(), start: start) }

    /// The rows, in the query's order.
    public var wrappedValue: [Entity] { source.subscription.items }
    /// The subscription that keeps the rows up to date.
    public var projectedValue: QuerySubscription<Entity> { source.subscription }
}

#if canImport(SwiftUI)
    extension QuerySubscribe: DynamicProperty {}
#endif
