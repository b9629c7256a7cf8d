/// Those who read a view as a sequence, each at its own pace; who has stopped reading is forgotten.
///
/// A class, so that who begins to read a view doesn't change it.
///
/// Isolation: the main actor.
@MainActor
final class UpdateSubscribers<Update: ComposableUpdate> {
    private struct Subscriber {
        weak var channel: UpdateChannel<Update>?
    }

    private var subscribers: [Subscriber] = []

    /// - Parameters:
    ///   - whole: Everything, with this update: told instead where more than `limit` has come together.
    ///   - update: Only called where somebody reads.
    func send(limit: Int = .max, whole: @autoclosure () -> Update? = nil, _ update: () -> Update) {
        subscribers.removeAll { $0.channel == nil }
        guard !subscribers.isEmpty else { return }
        let update = update()
        for subscriber in subscribers { subscriber.channel?.send(update, limit: limit) { whole() ?? update } }
    }

    /// - Parameter first: What to begin with; nil where there is nothing yet.
    func add(_ first: Update?) -> UpdateChannel<Update> {
        let channel = UpdateChannel<Update>()
        subscribers.append(Subscriber(channel: channel))
        if let first { channel.send(first, limit: .max) { first } }
        return channel
    }

    func finish() {
        for subscriber in subscribers { subscriber.channel?.finish() }
        subscribers = []
    }
}
