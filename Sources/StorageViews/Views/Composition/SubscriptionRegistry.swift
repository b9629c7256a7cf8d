internal import Foundation

/// Lists live views by name, without retaining them, to show what a program follows and what that costs.
///
/// ```swift
/// SubscriptionRegistry.shared.register(users, identifier: "users")
/// for info in await SubscriptionRegistry.shared.getDebugInfo() { print(info) }
/// ```
///
/// Released views are never reported. Their remains are removed when others are added or the registry is read,
/// so no timer is needed.
@MainActor
public final class SubscriptionRegistry {
    /// The registry that ``SubscriptionFactory`` registers views with.
    public static let shared = SubscriptionRegistry()

    private struct Entry {
        weak var subscription: StorageSubscription?
        let createdAt = Date()
    }

    private var entries: [String: Entry] = [:]
    /// The number of entries at which released views are removed.
    private var limit = 16

    /// Creates an empty registry.
    public init() {}

    /// Registers a view.
    ///
    /// - Parameter identifier: Its name, which replaces an earlier view with the same name; a generated one if nil.
    /// - Returns: The name.
    @discardableResult
    public func register(_ subscription: StorageSubscription, identifier: String? = nil) -> String {
        if entries.count >= limit {
            clean()
            limit = max(16, 2 * entries.count)
        }
        let id = identifier ?? UUID().uuidString
        entries[id] = Entry(subscription: subscription)
        return id
    }

    /// Removes a view from the registry; the view continues as before.
    ///
    /// ```swift
    /// let id = registry.register(users)
    /// registry.unregister(id)
    /// ```
    public func unregister(_ id: String) { entries[id] = nil }

    /// The view with this name; nil if it was released.
    public func subscription(_ id: String) -> StorageSubscription? { entries[id]?.subscription }

    /// The view with this name; nil if it was released or is of another type.
    ///
    /// ```swift
    /// let known = registry.subscription("users", as: QuerySubscription<User>.self)
    /// ```
    public func subscription<Subscription: StorageSubscription>(
        _ id: String, as type: Subscription.Type
    ) -> Subscription? { subscription(id) as? Subscription }

    /// How many views follow their stores.
    public var activeSubscriptionCount: Int { living.count { $0.subscription.isActive } }

    /// How many entries there are, those of views that are gone included.
    package var entryCount: Int { entries.count }

    /// How often each view was brought up to date, and how long that took; the oldest first.
    ///
    /// ```swift
    /// for view in registry.getMetrics() where view.averageRefreshTime > 0.1 { print(view.id, view.refreshCount) }
    /// ```
    public func getMetrics() -> [SubscriptionMetrics] {
        living.map { id, createdAt, subscription in
            SubscriptionMetrics(
                id: id, type: "\(type(of: subscription))", createdAt: createdAt,
                refreshCount: subscription.refreshCount, totalRefreshTime: subscription.refreshTime,
                lastRefreshTime: subscription.lastRefreshTime)
        }
    }

    /// What each view is doing, and how changes find it; the oldest first.
    public func getDebugInfo() async -> [SubscriptionDebugInfo] {
        var infos: [SubscriptionDebugInfo] = []
        for (id, createdAt, subscription) in living {
            let explanation = await subscription.explain()
            infos.append(
                SubscriptionDebugInfo(
                    id: id, type: "\(type(of: subscription))", isActive: subscription.isActive,
                    isLoading: subscription.isLoading, createdAt: createdAt, position: subscription.position,
                    error: subscription.error, explanation: explanation))
        }
        return infos
    }

    private var living: [(id: String, createdAt: Date, subscription: StorageSubscription)] {
        clean()
        return entries.compactMap { id, entry in entry.subscription.map { (id, entry.createdAt, $0) } }
            .sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
    }

    private func clean() { entries = entries.filter { $0.value.subscription != nil } }
}
