/// Identifies a subscription until it is removed. Tokens are never reused.
package struct SubscriptionToken: Hashable, Sendable {
    package let entity: UInt32
    let index: Int32
    let generation: UInt32
}
