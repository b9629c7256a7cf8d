/// Where a node's news goes.
package struct UpdateSink<Update: ComposableUpdate>: Sendable {
    /// Takes an update; `limit` and `whole` are what to do where too much comes together.
    let send: @Sendable (_ update: Update, _ limit: Int, _ whole: @escaping () -> Update) -> Delivery?
    let finish: @Sendable () -> Void

    /// To a view, by way of the main actor.
    package init(_ pendingUpdate: PendingUpdate<Update>, finish: @escaping @Sendable () -> Void = {}) {
        send = { pendingUpdate.delivery($0, limit: $1, whole: $2) }
        self.finish = finish
    }

    /// To somebody who takes every update where it is made.
    package init(_ take: @escaping @Sendable (Update) -> Void, finish: @escaping @Sendable () -> Void = {}) {
        send = { update, _, _ in
            take(update)
            return nil
        }
        self.finish = finish
    }

    func send(_ update: Update, limit: Int, whole: @escaping () -> Update) -> Delivery? { send(update, limit, whole) }
}
