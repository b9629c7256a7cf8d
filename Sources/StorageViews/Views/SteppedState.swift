internal import StorageCore

/// The rows or groups of a view on the main actor, and the readers of its sequences.
///
/// Isolation: the main actor.
@MainActor
struct SteppedState<Update: SteppedUpdate> {
    private var rows = ShownRows<Update>(Update.Whole())
    /// Whether steps didn't fit, so that those which follow don't either.
    private(set) var isBehind = false
    private let subscribers = UpdateSubscribers<Update>()

    var value: Update.Whole { rows.value }

    /// Applies an update in place.
    ///
    /// - Returns: False if it doesn't fit: the value stays as it is until everything is read again.
    mutating func take(_ update: Update) -> Bool {
        guard update.error == nil else { return true }
        isBehind = update.whole == nil && isBehind || !update.fits(value)
        guard !isBehind else { return false }
        if update.whole == nil {
            update.apply(to: &rows.value)
        } else {
            var value = value
            update.apply(to: &value)
            rows = ShownRows(value)
        }
        let value = value
        subscribers.send(update, limit: Update.stepLimit(rowCount: Update.rowCount(of: value))) {
            Update(value, at: update.position)
        }
        return true
    }

    /// - Parameter isLoaded: Whether there is a value to begin with.
    func readSnapshots(
        of view: any AnyObject & Sendable, at position: Int64, isLoaded: Bool
    ) -> SubscriptionSequence<Update.Whole> {
        let first = isLoaded ? Update(value, at: position) : nil
        return SubscriptionSequence(subscribers.add(.snapshots, startingWith: first), of: view) {
            $0.whole ?? Update.Whole()
        }
    }

    /// - Parameter isLoaded: Whether there is a value to begin with.
    func readDifferences(
        of view: any AnyObject & Sendable, at position: Int64, isLoaded: Bool
    ) -> SubscriptionSequence<Update.Difference> {
        let first = isLoaded ? Update(value, at: position) : nil
        return SubscriptionSequence(subscribers.add(.differences, startingWith: first), of: view) { $0.difference }
    }

    func end() { subscribers.end() }
}

/// The rows of a list.
typealias ListState<Item: Sendable> = SteppedState<ListUpdate<Item>>
