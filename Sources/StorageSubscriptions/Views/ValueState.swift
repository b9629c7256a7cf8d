/// Those who read the value of a view as sequences.
///
/// Isolation: the main actor.
@MainActor
struct ValueState<Value: Sendable> {
    private var snapshots: [WeakChannel<LatestValue<Value>>] = []
    private var differences: [WeakChannel<ValueDifference<Value>>] = []

    private struct WeakChannel<Update: ComposableUpdate> {
        weak var channel: UpdateChannel<Update>?
    }

    mutating func tell(_ difference: ValueDifference<Value>) {
        snapshots.removeAll { $0.channel == nil }
        differences.removeAll { $0.channel == nil }
        let latest = LatestValue(value: difference.new)
        for reader in snapshots { reader.channel?.send(latest, limit: .max) { latest } }
        for reader in differences { reader.channel?.send(difference, limit: .max) { difference } }
    }

    /// - Parameter value: What to begin with; nil where there is nothing yet.
    mutating func readSnapshots(of owner: any AnyObject & Sendable, _ value: Value?) -> SubscriptionSequence<Value> {
        let channel = UpdateChannel<LatestValue<Value>>()
        snapshots.append(WeakChannel(channel: channel))
        if let latest = value.map({ LatestValue(value: $0) }) { channel.send(latest, limit: .max) { latest } }
        return SubscriptionSequence(channel, of: owner) { $0.value }
    }

    mutating func readDifferences(
        of owner: any AnyObject & Sendable, at position: Int64, _ value: Value?
    ) -> SubscriptionSequence<ValueDifference<Value>> {
        let channel = UpdateChannel<ValueDifference<Value>>()
        differences.append(WeakChannel(channel: channel))
        if let value {
            let first = ValueDifference(position: position, old: nil, new: value)
            channel.send(first, limit: .max) { first }
        }
        return SubscriptionSequence(channel, of: owner) { $0 }
    }

    mutating func finish() {
        for reader in snapshots { reader.channel?.finish() }
        for reader in differences { reader.channel?.finish() }
        snapshots = []
        differences = []
    }
}

/// What leads from a value to the value at a later position.
public struct ValueDifference<Value: Sendable>: Sendable {
    /// The position that the new value reflects.
    public private(set) var position: Int64
    /// The value before; nil at the beginning.
    public let old: Value?
    public private(set) var new: Value
}

extension ValueDifference: ComposableUpdate {
    package var weight: Int { 0 }

    package mutating func append(_ next: ValueDifference) { (position, new) = (next.position, next.new) }
}
