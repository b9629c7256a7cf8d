/// Those who read a view as a sequence, each at its own pace; who has stopped reading is forgotten.
///
/// Isolation: the main actor.
@MainActor
struct Readers<Update: ComposableUpdate> {
    private struct Reader {
        weak var channel: UpdateChannel<Update>?
    }

    private var readers: [Reader] = []

    /// Whether somebody reads.
    mutating func isRead() -> Bool {
        readers.removeAll { $0.channel == nil }
        return !readers.isEmpty
    }

    /// - Parameter whole: Everything, with this update: told instead where too much has come together.
    func send(_ update: Update, limit: Int = .max, whole: () -> Update) {
        for reader in readers { reader.channel?.send(update, limit: limit, whole: whole) }
    }

    /// - Parameter first: What to begin with; nil where there is nothing yet.
    mutating func add(_ first: Update?) -> UpdateChannel<Update> {
        let channel = UpdateChannel<Update>()
        readers.append(Reader(channel: channel))
        if let first { channel.send(first, limit: .max) { first } }
        return channel
    }

    mutating func finish() {
        for reader in readers { reader.channel?.finish() }
        readers = []
    }
}
