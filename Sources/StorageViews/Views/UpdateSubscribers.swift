/// Those who read a view as sequences, each at its own pace; who has stopped reading is forgotten.
///
/// A class, so that who begins to read a view doesn't change it.
///
/// Isolation: the main actor.
@MainActor
final class UpdateSubscribers<Update: ComposableUpdate> {
    /// What a subscriber gets of each update.
    enum Form {
        /// The update itself: what leads from one state to the next.
        case differences
        /// Everything that there is then.
        case snapshots
    }

    private struct Subscriber {
        weak var pendingUpdate: PendingUpdate<Update>?
        let form: Form
    }

    private var subscribers: [Subscriber] = []

    /// - Parameters:
    ///   - update: Only made where somebody reads.
    ///   - limit: Of how many steps may wait for a subscriber.
    ///   - whole: Everything, with this update.
    func send(_ update: @autoclosure () -> Update, limit: Int = .max, whole: () -> Update) {
        subscribers.removeAll { $0.pendingUpdate == nil }
        guard !subscribers.isEmpty else { return }
        let update = update()
        for subscriber in subscribers {
            switch subscriber.form {
            case .differences: subscriber.pendingUpdate?.put(update, limit: limit, whole: whole)
            case .snapshots: subscriber.pendingUpdate?.put(whole())
            }
        }
    }

    /// - Parameter first: What to begin with; nil where there is nothing yet.
    func add(_ form: Form, startingWith first: Update?) -> PendingUpdate<Update> {
        let pendingUpdate = PendingUpdate<Update>()
        subscribers.append(Subscriber(pendingUpdate: pendingUpdate, form: form))
        if let first { pendingUpdate.put(first) }
        return pendingUpdate
    }

    func end() {
        for subscriber in subscribers { subscriber.pendingUpdate?.end() }
        subscribers = []
    }
}
