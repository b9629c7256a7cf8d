/// Those who read the value of a view as sequences.
///
/// Isolation: the main actor.
@MainActor
struct ValueState<Value: Sendable> {
    private let snapshots = UpdateSubscribers<LatestValue<Value>>()
    private let differences = UpdateSubscribers<ValueDifference<Value>>()

    func send(_ difference: ValueDifference<Value>) {
        snapshots.send { LatestValue(value: difference.new) }
        differences.send { difference }
    }

    /// - Parameter value: What to begin with; nil where there is nothing yet.
    func readSnapshots(of owner: any AnyObject & Sendable, _ value: Value?) -> SubscriptionSequence<Value> {
        SubscriptionSequence(snapshots.add(value.map { LatestValue(value: $0) }), of: owner) { $0.value }
    }

    func readDifferences(
        of owner: any AnyObject & Sendable, at position: Int64, _ value: Value?
    ) -> SubscriptionSequence<ValueDifference<Value>> {
        let first = value.map { ValueDifference(position: position, old: nil, new: $0) }
        return SubscriptionSequence(differences.add(first), of: owner) { $0 }
    }

    func finish() {
        snapshots.finish()
        differences.finish()
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
