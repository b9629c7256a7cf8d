public import StorageViews

/// Creates live views of a given type, and registers them.
///
/// ```swift
/// let users = SubscriptionFactory.create(
///     QuerySubscription<User>.self, repository: repository, query: adults, configuration: .background)
/// ```
@MainActor
public enum SubscriptionFactory {
    /// Creates a live view.
    ///
    /// - Parameters:
    ///   - query: The repository's rows that the view follows; all of them if nil.
    ///   - identifier: The name under which the view is registered; one is generated if nil.
    ///   - registry: The registry for the view; if nil, it isn't registered. Custom classes are never registered.
    public static func create<Subscription: QuerySubscriptionProtocol>(
        _ type: Subscription.Type, repository: some StorageRepository<Subscription.Model>,
        query: Query<Subscription.Model>? = nil, configuration: Subscription.Configuration,
        identifier: String? = nil, registry: SubscriptionRegistry? = .shared
    ) -> Subscription {
        let subscription = Subscription(repository: repository.erased, query: query, configuration: configuration)
        if let view = subscription as? StorageSubscription { registry?.register(view, identifier: identifier) }
        return subscription
    }
}
