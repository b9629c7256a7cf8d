internal import Synchronization

/// News that can be told together with news that follows.
package protocol ComposableUpdate: Sendable {
    /// Adds what came later.
    mutating func append(_ next: Self)
    /// How much it holds; once it is more than the whole, the whole is told instead.
    var weight: Int { get }
}

/// Holds the news for one view until the main actor has time.
package final class PendingUpdate<Update: ComposableUpdate>: Receiver {
    private let pending = Mutex<Update?>(nil)
    private let handler: @MainActor @Sendable (Update) -> Void

    package init(_ handler: @escaping @MainActor @Sendable (Update) -> Void) { self.handler = handler }

    /// - Parameter whole: Everything, with this update: told instead where too much has come together.
    func delivery(_ update: Update, limit: Int, whole: @escaping () -> Update) -> Delivery {
        Delivery(receiver: self) { [self] in
            let isTooMuch = pending.withLock { pending in
                if pending == nil { pending = update } else { pending?.append(update) }
                return pending?.weight ?? 0 > limit
            }
            guard isTooMuch else { return }
            let whole = whole()
            pending.withLock { $0 = whole }
        }
    }

    package func takeOut() -> (@MainActor @Sendable () -> Void)? {
        guard let update = pending.withLock({ $0.take() }) else { return nil }
        return { [handler] in handler(update) }
    }
}
