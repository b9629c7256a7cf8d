/// What a change means to one subscription.
package struct RoutedChange: Sendable, Hashable {
    package enum Effect: UInt8, Sendable, Hashable {
        /// The row belongs to the result from now on.
        case enter
        /// It doesn't any more.
        case leave
        /// It still does, and something that the subscription looks at is another.
        case stay
        /// It may be any of these, or nothing: only asking the database tells.
        case uncertain
    }

    package let token: SubscriptionToken
    package let effect: Effect
    /// The change's place in the ``NetChanges`` that were routed.
    package let change: Int
}
