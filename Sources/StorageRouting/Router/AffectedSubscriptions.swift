/// Subscriptions that are affected by any of many changes, each noted once however many there are.
package struct AffectedSubscriptions {
    /// Entities all of whose subscriptions are affected, so that their further changes needn't be routed.
    package var entities: Set<UInt32> = []
    /// Conditions all of whose subscriptions are affected, by entity.
    var nodes: [UInt32: Set<Int32>] = [:]
    var tokens: Set<SubscriptionToken> = []

    package init() {}

    package func contains(_ token: SubscriptionToken) -> Bool {
        entities.contains(token.entity) || tokens.contains(token)
    }
}
