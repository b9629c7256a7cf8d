/// Keeps a node alive, and takes it away when nobody holds the handle any more.
package final class LiveHandle: Sendable {
    let id: Int
    let engine: SubscriptionEngine

    init(id: Int, engine: SubscriptionEngine) {
        self.id = id
        self.engine = engine
    }

    deinit { engine.removeLater(id) }
}
