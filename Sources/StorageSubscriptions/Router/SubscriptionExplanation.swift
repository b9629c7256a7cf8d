/// How a subscription is found, and what that has cost.
package struct SubscriptionExplanation: Sendable, Hashable {
    package enum Tier: String, Sendable {
        /// Found by a part of its condition.
        case indexed
        /// Evaluated on every change of its entity that touches its columns.
        case evaluated
        /// Holds SQL of its own; whether it is concerned only the database knows.
        case opaque
    }

    package let tier: Tier
    /// The parts of the condition that it is found by, such as `status =`, `age between`, `name like a…`.
    package let anchors: [String]
    /// How many subscriptions have the same condition.
    package let sharers: Int
    /// How often the condition was held for possible, and how often it was evaluated.
    package let candidacies: Int
    package let evaluations: Int
    /// How often the subscription was woken; by which position last, and why.
    package let wakes: Int
    package let lastPosition: Int64
    package let lastEffect: RoutedChange.Effect?
}
