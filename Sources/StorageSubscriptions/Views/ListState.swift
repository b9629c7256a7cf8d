internal import StorageCore

/// The rows of a view on the main actor, with those who read them as sequences.
///
/// Isolation: the main actor.
@MainActor
struct ListState<Item: Sendable> {
    private(set) var items: [Item] = []
    private var snapshots: [WeakChannel<LatestValue<[Item]>>] = []
    private var differences: [WeakChannel<ListUpdate<Item>>] = []

    private struct WeakChannel<Update: ComposableUpdate> {
        weak var channel: UpdateChannel<Update>?
    }

    /// Makes the changes in place.
    mutating func take(_ update: ListUpdate<Item>) {
        guard update.error == nil else { return }
        update.difference.apply(to: &items)
        guard !snapshots.isEmpty || !differences.isEmpty else { return }
        snapshots.removeAll { $0.channel == nil }
        differences.removeAll { $0.channel == nil }
        let items = items
        for reader in snapshots {
            let latest = LatestValue(value: items)
            reader.channel?.send(latest, limit: .max) { latest }
        }
        for reader in differences {
            reader.channel?.send(update, limit: max(256, items.count)) { Self.whole(items, at: update.position) }
        }
    }

    private static func whole(_ items: [Item], at position: Int64) -> ListUpdate<Item> {
        var whole = ListUpdate<Item>()
        whole.position = position
        whole.whole = items
        return whole
    }

    /// - Parameter isLoaded: Whether there is a value to begin with.
    mutating func readSnapshots(of owner: any AnyObject & Sendable, _ isLoaded: Bool) -> SubscriptionSequence<[Item]> {
        let channel = UpdateChannel<LatestValue<[Item]>>()
        snapshots.append(WeakChannel(channel: channel))
        let latest = LatestValue(value: items)
        if isLoaded { channel.send(latest, limit: .max) { latest } }
        return SubscriptionSequence(channel, of: owner) { $0.value }
    }

    mutating func readDifferences(
        of owner: any AnyObject & Sendable, at position: Int64, _ isLoaded: Bool
    ) -> SubscriptionSequence<ListDifference<Item>> {
        let channel = UpdateChannel<ListUpdate<Item>>()
        differences.append(WeakChannel(channel: channel))
        let whole = Self.whole(items, at: position)
        if isLoaded { channel.send(whole, limit: .max) { whole } }
        return SubscriptionSequence(channel, of: owner) { $0.difference }
    }

    mutating func finish() {
        for reader in snapshots { reader.channel?.finish() }
        for reader in differences { reader.channel?.finish() }
        snapshots = []
        differences = []
    }
}
