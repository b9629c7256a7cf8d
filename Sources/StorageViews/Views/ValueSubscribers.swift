/// The readers of a view's value as sequences.
///
/// Isolation: the main actor.
@MainActor
struct ValueSubscribers<Value: Sendable> {
    private let subscribers = UpdateSubscribers<ValueDifference<Value>>()

    func send(_ difference: ValueDifference<Value>) { subscribers.send(difference) { difference } }

    /// - Parameter value: What to begin with; nil if there is nothing yet.
    func readSnapshots(
        of view: any AnyObject & Sendable, at position: Int64, value: Value?
    ) -> SubscriptionSequence<Value> {
        readDifferences(of: view, at: position, value: value).map(\.new)
    }

    /// - Parameter value: What to begin with; nil if there is nothing yet.
    func readDifferences(
        of view: any AnyObject & Sendable, at position: Int64, value: Value?
    ) -> SubscriptionSequence<ValueDifference<Value>> {
        let first = value.map { ValueDifference(position: position, old: nil, new: $0) }
        return SubscriptionSequence(subscribers.add(.differences, startingWith: first), of: view) { $0 }
    }

    func end() { subscribers.end() }
}

/// The difference from a value to the value at a later position.
///
/// ```swift
/// for try await difference in storage.query(Task.self).liveCount().differences {
///     print(difference.new - (difference.old ?? 0), "since the last commit, at", difference.position)
/// }
/// ```
public struct ValueDifference<Value: Sendable>: Sendable {
    /// The position that the new value reflects.
    public internal(set) var position: Int64
    /// The value before; nil at the beginning.
    public let old: Value?
    /// The value after.
    public internal(set) var new: Value
}

extension ValueDifference {
    package init(at position: Int64, from old: Value?, to new: Value) {
        self.init(position: position, old: old, new: new)
    }
}

extension ValueDifference: Equatable where Value: Equatable {}
/// ```json
/// {"position": 1041, "old": 3, "new": 4}
/// ```
extension ValueDifference: Codable where Value: Codable {}

extension ValueDifference: ComposableUpdate {
    package var weight: Int { 0 }

    package mutating func append(_ next: ValueDifference) { (position, new) = (next.position, next.new) }
}
