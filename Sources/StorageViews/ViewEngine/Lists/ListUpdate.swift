package import StorageCore

/// What is new of a list.
package struct ListUpdate<Item: Sendable>: SteppedUpdate {
    package var position: Int64 = 0
    package var whole: [Item]?
    package var changes: [ListChange<Item>] = []
    /// The number of all rows, if counted.
    package var total: Int?
    /// The index of the first row among all.
    package var offset = 0
    /// Why it couldn't be kept up to date; the rows are those from before.
    package var error: StorageError?

    package init() {}

    package init(_ whole: [Item], at position: Int64) { (self.whole, self.position) = (whole, position) }

    package func fits(_ items: [Item]) -> Bool { difference.fits(items) }
    package func apply(to items: inout [Item]) { difference.apply(to: &items) }
    package static func rowCount(of items: [Item]) -> Int { items.count }

    package var difference: ListDifference<Item> {
        ListDifference(position: position, whole: whole, changes: changes)
    }
}

extension ListUpdate {
    /// The same update with converted items.
    package func map<Other>(_ change: (Item) throws -> Other) rethrows -> ListUpdate<Other> {
        var update = ListUpdate<Other>()
        (update.position, update.total, update.offset, update.error) = (position, total, offset, error)
        update.whole = try whole?.map(change)
        // Throwing calls are statements of their own: among an enum case's values they crash programs built by Swift
        // 6.3.
        for step in changes {
            switch step {
            case .insert(let item, let index):
                let other = try change(item)
                update.changes.append(.insert(other, at: index))
            case .remove(let index): update.changes.append(.remove(at: index))
            case .update(let item, let index):
                let other = try change(item)
                update.changes.append(.update(other, at: index))
            case .move(let item, let from, let to):
                let other = try change(item)
                update.changes.append(.move(other, from: from, to: to))
            }
        }
        return update
    }
}

extension ListUpdate {
    /// What the update leaves of a list that has one item.
    var latest: Item? {
        guard error == nil else { return nil }
        for change in changes.reversed() {
            switch change {
            case .insert(let item, _), .update(let item, _), .move(let item, _, _): return item
            case .remove: continue
            }
        }
        return whole?.last
    }
}
