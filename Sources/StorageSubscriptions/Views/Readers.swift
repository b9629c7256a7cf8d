/// Those who read a view as a sequence, each at its own pace; who has stopped reading is forgotten.
///
/// A class, so that who begins to read a view doesn't change it.
///
/// Isolation: the main actor.
@MainActor
final class Readers<Update: ComposableUpdate> {
    private struct Reader {
        weak var channel: UpdateChannel<Update>?
    }

    private var readers: [Reader] = []

    /// - Parameters:
    ///   - whole: Everything, with this update: told instead where more than `limit` has come together.
    ///   - update: Only called where somebody reads.
    func send(limit: Int = .max, whole: @autoclosure () -> Update? = nil, _ update: () -> Update) {
        readers.removeAll { $0.channel == nil }
        guard !readers.isEmpty else { return }
        let update = update()
        for reader in readers { reader.channel?.send(update, limit: limit) { whole() ?? update } }
    }

    /// - Parameter first: What to begin with; nil where there is nothing yet.
    func add(_ first: Update?) -> UpdateChannel<Update> {
        let channel = UpdateChannel<Update>()
        readers.append(Reader(channel: channel))
        if let first { channel.send(first, limit: .max) { first } }
        return channel
    }

    func finish() {
        for reader in readers { reader.channel?.finish() }
        readers = []
    }
}
