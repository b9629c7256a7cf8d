/// How a subscription is found, and what that has cost.
public struct SubscriptionExplanation: Sendable, Hashable {
    /// How changes find a subscription.
    public enum Tier: String, Sendable {
        /// Found by a part of its condition.
        case indexed
        /// Evaluated on every change of its entity that touches its columns.
        case evaluated
        /// Contains custom SQL; only the database knows whether a change affects it.
        case opaque
    }

    /// How changes find the subscription.
    public let tier: Tier
    /// The parts of the condition that it is found by, such as `status =`, `age between`, `name like a…`.
    public let anchors: [String]
    /// How many subscriptions have the same condition.
    public let sharedBy: Int
    /// How often the condition was a candidate, and how often it was evaluated.
    public let candidateCount: Int
    /// How often the condition was evaluated.
    public let evaluations: Int
    /// How often the subscription was woken; by which position last, and why.
    public let wakeups: Int
    /// The position of the last change that woke the subscription.
    public let lastPosition: Int64
    /// What that change did to its result.
    public let lastEffect: SubscriptionEffect?
}
