package import StorageCore

/// What is new of a list.
package struct ListUpdate<Item: Sendable>: SteppedUpdate {
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

    package init(_ whole: [Item], at position: Int64) { (self.whole, self.position) = (whole, position) }

    package func apply(to items: inout [Item]) { difference.apply(to: &items) }
    package static func rowCount(of items: [Item]) -> Int { items.count }

    package var difference: ListDifference<Item> {
        ListDifference(position: position, whole: whole, changes: changes)
    }
}
