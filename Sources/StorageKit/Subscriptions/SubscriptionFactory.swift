public import StorageViews

/// Creates live views by their type, and registers them.
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
    ///   - query: What it finds among the repository's rows; all of them if nil.
    ///   - identifier: The name that it is registered under; one is generated if nil.
    ///   - registry: The registry for it; none if nil. Custom classes aren't registered.
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
