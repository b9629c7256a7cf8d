public import Foundation
public import StorageCore
public import StorageRouting

/// What a live view is doing, and how changes find it.
///
/// ```swift
/// for view in await registry.getDebugInfo() where view.isActive { print(view.id, view.type, view.position) }
/// ```
public struct SubscriptionDebugInfo: Sendable, Identifiable {
    /// The name that it is registered under.
    public let id: String
    /// The type of the view.
    public let type: String
    /// Whether it follows its store.
    public let isActive: Bool
    /// Whether its first value is still being read.
    public let isLoading: Bool
    /// When it was registered.
    public let createdAt: Date
    /// The log position that its value reflects.
    public let position: Int64
    /// Why its value is out of date; nil if it isn't.
    public let error: StorageError?
    /// How changes find it, and how often they did; nil if it doesn't follow its store.
    public let explanation: SubscriptionExplanation?
}

extension SubscriptionDebugInfo: CustomStringConvertible {
    /// One line: `users: QuerySubscription<User> @41, indexed by age from, woken 3 times`.
    public var description: String {
        var parts = ["\(id): \(type) @\(position)"]
        if let explanation {
            let anchors = explanation.anchors.joined(separator: ", ")
            parts.append(explanation.tier.rawValue + (anchors.isEmpty ? "" : " by \(anchors)"))
            parts.append("woken \(explanation.wakeups) times")
        }
        if isLoading { parts.append("loading") }
        if !isActive { parts.append("ended") }
        if let error { parts.append("\(error)") }
        return parts.joined(separator: ", ")
    }
}
