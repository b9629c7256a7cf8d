internal import StorageCore

/// The rows or groups of a view on the main actor, with those who read them as sequences.
///
/// Isolation: the main actor.
@MainActor
struct SteppedState<Update: SteppedUpdate> {
    private(set) var value = Update.Whole()
    private let snapshots = Readers<LatestValue<Update.Whole>>()
    private let differences = Readers<Update>()

    /// Makes the changes in place.
    mutating func take(_ update: Update) {
        guard update.error == nil else { return }
        update.apply(to: &value)
        let value = value
        snapshots.send { LatestValue(value: value) }
        differences.send(limit: max(256, Update.rowCount(of: value)), whole: Update(value, at: update.position)) {
            update
        }
    }

    /// - Parameter isLoaded: Whether there is a value to begin with.
    func readSnapshots(of owner: any AnyObject & Sendable, _ isLoaded: Bool) -> SubscriptionSequence<Update.Whole> {
        SubscriptionSequence(snapshots.add(isLoaded ? LatestValue(value: value) : nil), of: owner) { $0.value }
    }

    func readDifferences(
        of owner: any AnyObject & Sendable, at position: Int64, _ isLoaded: Bool
    ) -> SubscriptionSequence<Update.Difference> {
        SubscriptionSequence(differences.add(isLoaded ? Update(value, at: position) : nil), of: owner) { $0.difference }
    }

    func finish() {
        snapshots.finish()
        differences.finish()
    }
}

/// The rows of a list.
typealias ListState<Item: Sendable> = SteppedState<ListUpdate<Item>>
