/// What a change means to one subscription.
package struct RoutedChange: Sendable, Hashable {
    package let token: SubscriptionToken
    package let effect: SubscriptionEffect
    /// The change's index in the ``ChangeFold`` that was routed.
    package let change: Int
}
