package import StorageCore

/// What is new of a list.
package struct ListUpdate<Item: Sendable>: ComposableUpdate {
    package var position: Int64 = 0
    package var whole: [Item]?
    package var changes: [ListChange<Item>] = []
    /// How many rows there are in all, where that is counted.
    package var total: Int?
    /// The place of the first row among all.
    package var offset = 0
    /// Why it couldn't be kept up to date; the rows are those from before.
    package var error: StorageError?

    package init() {}

    package var weight: Int { changes.count }

    package mutating func append(_ next: ListUpdate) {
        var composed = next
        if next.whole == nil {
            composed.whole = whole
            composed.changes = changes + next.changes
        }
        self = composed
    }

    package var difference: ListDifference<Item> {
        ListDifference(position: position, whole: whole, changes: changes)
    }
}
