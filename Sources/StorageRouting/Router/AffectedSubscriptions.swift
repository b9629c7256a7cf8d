/// Subscriptions that are affected by any of many changes, each noted once however many there are.
package struct AffectedSubscriptions {
    /// Of which all subscriptions are concerned, so that their changes needn't be looked at any more.
    package var entities: Set<UInt32> = []
    /// Conditions of which all subscriptions are concerned, by entity.
    var nodes: [UInt32: Set<Int32>] = [:]
    var tokens: Set<SubscriptionToken> = []

    package init() {}

    package func contains(_ token: SubscriptionToken) -> Bool {
        entities.contains(token.entity) || tokens.contains(token)
    }
}
