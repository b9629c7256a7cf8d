internal import StorageEntities
package import StorageViews

/// A query that a live view can follow: of the store (``Query``), or of a timeline (``TimelineQuery``).
///
/// ```swift
/// func follow(_ query: some SubscribableQuery<User>) async throws {
///     for try await users in query.orderBy(\.name).live().snapshots { show(users) }
/// }
/// try await follow(storage.query(User.self))
/// try await follow(storage.timeline(from: .tag("release-3")).query(User.self))
/// ```
public protocol SubscribableQuery<Entity>: FetchableQuery {
    /// The source that the view follows.
    var subscriptionSource: SubscriptionSource { get }
}

/// A source of live views: a store, or a timeline.
public struct SubscriptionSource: Sendable {
    package let engine: SubscriptionEngine
    let searchIndexes: SearchIndexes

    init(_ engine: SubscriptionEngine, _ searchIndexes: SearchIndexes) {
        self.engine = engine
        self.searchIndexes = searchIndexes
    }
}

extension Query: SubscribableQuery {
    public var subscriptionSource: SubscriptionSource {
        SubscriptionSource(storage.subscriptions, storage.searchIndexes)
    }
}
