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
        /// SQL that runs again when a table or column that it has read has changed.
        case tracked
    }

    /// How changes find the subscription.
    public let tier: Tier
    /// The parts of the condition that it is found by, such as `status =`, `age between`, `name like a…`; of ``Tier/tracked``
    /// SQL the columns that it has read, such as `users.name`, and tables of which it has read everything.
    public let anchors: [String]
    /// For ``Tier/tracked`` SQL, the condition on rows, such as `age >= 18`: changes of other rows don't run it again. Nil if every
    /// row counts, and for other tiers.
    public internal(set) var rowCondition: String?
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

    /// An explanation of SQL that runs again.
    package static func tracked(_ columns: [String], rows condition: String?) -> SubscriptionExplanation {
        SubscriptionExplanation(
            tier: .tracked, anchors: columns.sorted(), rowCondition: condition, sharedBy: 1, candidateCount: 0,
            evaluations: 0, wakeups: 0,
            lastPosition: 0, lastEffect: nil)
    }
}
