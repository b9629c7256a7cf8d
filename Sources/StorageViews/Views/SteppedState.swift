internal import StorageCore

/// The rows or groups of a view on the main actor, with those who read them as sequences.
///
/// Isolation: the main actor.
@MainActor
struct SteppedState<Update: SteppedUpdate> {
    private(set) var value = Update.Whole()
    /// Whether steps didn't fit, so that those which follow don't either.
    private(set) var isBehind = false
    private let snapshots = UpdateSubscribers<LatestValue<Update.Whole>>()
    private let differences = UpdateSubscribers<Update>()

    /// Makes the changes in place.
    ///
    /// - Returns: False where they don't fit: the value stays as it is until everything is read again.
    mutating func take(_ update: Update) -> Bool {
        guard update.error == nil else { return true }
        isBehind = update.whole == nil && isBehind || !update.fits(value)
        guard !isBehind else { return false }
        update.apply(to: &value)
        let value = value
        snapshots.send { LatestValue(value: value) }
        differences.send(limit: max(256, Update.rowCount(of: value)), whole: Update(value, at: update.position)) {
            update
        }
        return true
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
