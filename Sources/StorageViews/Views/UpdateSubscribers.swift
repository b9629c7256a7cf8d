/// The readers of a view's sequences, each at its own pace; readers that have stopped are removed.
///
/// A class, so that adding a reader doesn't count as a change of the view.
///
/// Isolation: the main actor.
@MainActor
final class UpdateSubscribers<Update: ComposableUpdate> {
    /// What a subscriber gets of each update.
    enum Form {
        /// The update itself: the difference from one state to the next.
        case differences
        /// Everything, after the update.
        case snapshots
    }

    private struct Subscriber {
        weak var pendingUpdate: PendingUpdate<Update>?
        let form: Form
    }

    /// Nil once the view has ended.
    private var subscribers: [Subscriber]? = []

    /// - Parameters:
    ///   - update: Evaluated only if there is a reader.
    ///   - limit: The most steps that may be pending for a subscriber.
    ///   - whole: Everything, this update included.
    func send(_ update: @autoclosure () -> Update, limit: Int = .max, whole: () -> Update) {
        subscribers?.removeAll { $0.pendingUpdate == nil }
        guard let subscribers, !subscribers.isEmpty else { return }
        let update = update()
        for subscriber in subscribers {
            switch subscriber.form {
            case .differences: subscriber.pendingUpdate?.put(update, limit: limit, whole: whole)
            case .snapshots: subscriber.pendingUpdate?.put(whole())
            }
        }
    }

    /// After the end of the view a reader gets what it begins with, and the end.
    ///
    /// - Parameter first: What to begin with; nil if there is nothing yet.
    func add(_ form: Form, startingWith first: Update?) -> PendingUpdate<Update> {
        let pendingUpdate = PendingUpdate<Update>()
        if let first { pendingUpdate.put(first) }
        if subscribers == nil { pendingUpdate.end() }
        subscribers?.append(Subscriber(pendingUpdate: pendingUpdate, form: form))
        return pendingUpdate
    }

    func end() {
        for subscriber in subscribers ?? [] { subscriber.pendingUpdate?.end() }
        subscribers = nil
    }
}
