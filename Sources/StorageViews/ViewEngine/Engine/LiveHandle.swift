/// Keeps a node alive; removes it when the handle is released.
package final class LiveHandle: Sendable {
    let id: Int
    let engine: SubscriptionEngine

    init(id: Int, engine: SubscriptionEngine) {
        self.id = id
        self.engine = engine
    }

    deinit { engine.removeLater(id) }
}
