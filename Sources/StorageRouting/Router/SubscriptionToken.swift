/// Stands for a subscription until it is removed. The token of a removed subscription never stands for another one.
package struct SubscriptionToken: Hashable, Sendable {
    package let entity: UInt32
    let index: Int32
    let generation: UInt32
}
