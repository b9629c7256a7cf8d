/// A list of rows that include others: a ``ListNode``, and the rows that it shows.
///
/// Isolation: not `Sendable`; it belongs to a node.
final class IncludedList<Item: Sendable> {
    let node: ListNode<OwnerRow<Item>>
    private(set) var shown: [OwnerRow<Item>] = []
    /// By what the levels know each row that is shown.
    private(set) var keys: [Keys] = []
    /// A key for each level; nil where the row has nothing of it.
    typealias Keys = [[UInt8]?]

    init(_ spec: ListSpec<OwnerRow<Item>>) { node = ListNode(spec) }

    /// Reads everything. The levels have nothing of it.
    func reload(_ levels: [any IncludedLevel<Item>], _ snapshot: Snapshot) throws -> ListUpdate<OwnerRow<Item>>? {
        (shown, keys) = ([], [])
        try node.reload(snapshot)
        return try settle(levels, snapshot)
    }

    /// Makes of the changes that were applied what is shown, and lets the levels have what belongs to it.
    ///
    /// - Returns: What is new; nil where nothing is.
    func settle(_ levels: [any IncludedLevel<Item>], _ snapshot: Snapshot) throws -> ListUpdate<OwnerRow<Item>>? {
        try node.finishStep(snapshot)
        guard let update = node.takeUpdate(at: snapshot.position) else { return nil }
        guard update.fits(shown) else { throw StaleNode() }
        let (removed, added) = turnover(update, levels)
        for (index, level) in levels.enumerated() {
            // Before others are released: most of them are the same.
            for (row, keys) in added {
                if let key = keys[index] { try level.retain(row.values[index], as: key, in: snapshot) }
            }
            for keys in removed {
                if let key = keys[index] { level.release(key) }
            }
        }
        return update
    }

    /// Applies an update to the rows that are shown.
    ///
    /// - Returns: The rows that were shown and aren't any more, and those that are now: a row with other values is both.
    private func turnover(
        _ update: ListUpdate<OwnerRow<Item>>, _ levels: [any IncludedLevel<Item>]
    ) -> (removed: [Keys], added: [(row: OwnerRow<Item>, keys: Keys)]) {
        var removed: [Keys] = []
        var added: [(row: OwnerRow<Item>, keys: Keys)] = []
        func add(_ row: OwnerRow<Item>) -> Keys {
            let keys = levels.indices.map { levels[$0].key(of: row.values[$0]) }
            added.append((row, keys))
            return keys
        }
        if let whole = update.whole {
            removed = keys
            (shown, keys) = (whole, whole.map(add))
        }
        for change in update.changes {
            switch change {
            case .insert(let row, let index):
                shown.insert(row, at: index)
                keys.insert(add(row), at: index)
            case .remove(let index):
                shown.remove(at: index)
                removed.append(keys.remove(at: index))
            case .update(let row, let index):
                shown[index] = row
                removed.append(keys[index])
                keys[index] = add(row)
            case .move(let row, let from, let to):
                shown.remove(at: from)
                shown.insert(row, at: to)
                removed.append(keys.remove(at: from))
                keys.insert(add(row), at: to)
            }
        }
        return (removed, added)
    }

    /// Whether a level has something new of one of the rows.
    func hasChanges(_ levels: [any IncludedLevel<Item>]) -> Bool { !changedIndices(levels).isEmpty }

    /// The rows of which a level has something new.
    func changedIndices(_ levels: [any IncludedLevel<Item>]) -> [Int] {
        let changed = levels.indices.filter { levels[$0].hasChanges }
        guard !changed.isEmpty else { return [] }
        return keys.indices.filter { row in
            changed.contains { level in keys[row][level].map(levels[level].hasChanged) ?? false }
        }
    }

    /// A row with what it includes.
    static func filled(_ row: OwnerRow<Item>, _ levels: [any IncludedLevel<Item>]) -> Item {
        var item = row.item
        for (index, level) in levels.enumerated() { level.fill(&item, row.values[index]) }
        return item
    }
}
