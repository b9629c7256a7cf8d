/// How a subscription is found, and what that has cost.
public struct SubscriptionExplanation: Sendable, Hashable {
    public enum Tier: String, Sendable {
        /// Found by a part of its condition.
        case indexed
        /// Evaluated on every change of its entity that touches its columns.
        case evaluated
        /// Holds SQL of its own; whether it is concerned only the database knows.
        case opaque
    }

    public let tier: Tier
    /// The parts of the condition that it is found by, such as `status =`, `age between`, `name like a…`.
    public let anchors: [String]
    /// How many subscriptions have the same condition.
    public let sharedBy: Int
    /// How often the condition was a candidate, and how often it was evaluated.
    public let candidateCount: Int
    public let evaluations: Int
    /// How often the subscription was woken; by which position last, and why.
    public let wakeups: Int
    public let lastPosition: Int64
    public let lastEffect: SubscriptionEffect?
}
