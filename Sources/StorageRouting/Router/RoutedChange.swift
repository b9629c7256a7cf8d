/// What a change means to one subscription.
package struct RoutedChange: Sendable, Hashable {
    package let token: SubscriptionToken
    package let effect: SubscriptionEffect
    /// The change's place in the ``ChangeFold`` that was routed.
    package let change: Int
}
