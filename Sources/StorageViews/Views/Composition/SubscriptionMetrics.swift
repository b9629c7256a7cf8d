public import Foundation

/// How often a live view was brought up to date, and how long the main actor was busy with that.
///
/// ```swift
/// for view in registry.getMetrics() { print(view.id, view.refreshCount, view.averageRefreshTime) }
/// ```
public struct SubscriptionMetrics: Sendable, Hashable, Identifiable {
    /// The name that it is registered under.
    public let id: String
    /// The type of the view.
    public let type: String
    /// When it was registered.
    public let createdAt: Date
    /// How often its value has been updated.
    public let refreshCount: Int
    /// The main actor's total time for these updates, in seconds, without the time of the database.
    public let totalRefreshTime: TimeInterval
    /// When its value was last updated.
    public let lastRefreshTime: Date?

    /// The main actor's average time for an update, in seconds; 0 if the value hasn't been updated yet.
    public var averageRefreshTime: TimeInterval {
        refreshCount > 0 ? totalRefreshTime / Double(refreshCount) : 0
    }
}
