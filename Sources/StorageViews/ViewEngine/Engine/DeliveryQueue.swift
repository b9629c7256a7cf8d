internal import Synchronization

/// Hands what is new to the views on the main actor, all views of a store at one position.
///
/// What comes in while the main actor is busy is composed, so a slow screen costs neither memory nor the writer's time.
///
/// Isolation: `Sendable`, its state behind a mutex that is held while updates are put in and taken out, so that views
/// never see half of a step.
package final class DeliveryQueue: Sendable {
    private struct State {
        var waiting: [ObjectIdentifier: any Receiver] = [:]
        var order: [ObjectIdentifier] = []
        var isScheduled = false
    }

    private let state = Mutex(State())

    package init() {}

    /// Puts in what a step has brought.
    func post(_ deliveries: [Delivery]) {
        guard !deliveries.isEmpty else { return }
        let schedules = state.withLock { state in
            for delivery in deliveries {
                delivery.put()
                let id = ObjectIdentifier(delivery.receiver)
                if state.waiting.updateValue(delivery.receiver, forKey: id) == nil { state.order.append(id) }
            }
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if schedules { Task { @MainActor in drain() } }
    }

    /// Hands everything over that is waiting.
    @MainActor package func drain() {
        let handOvers = state.withLock { state in
            let receivers = state.order.compactMap { state.waiting[$0] }
            state.waiting.removeAll()
            state.order.removeAll()
            state.isScheduled = false
            return receivers.compactMap { $0.takeOut() }
        }
        for handOver in handOvers { handOver() }
    }
}

/// What a step has brought for one receiver.
package struct Delivery {
    let receiver: any Receiver
    let put: () -> Void
}

/// Takes updates on behalf of a view.
package protocol Receiver: AnyObject, Sendable {
    /// What hands over everything that has been put in; nil where there is nothing.
    func takeOut() -> (@MainActor @Sendable () -> Void)?
}
