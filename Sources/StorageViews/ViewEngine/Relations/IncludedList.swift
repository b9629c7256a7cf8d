/// A list of rows that include others: a ``ListNode``, and the rows that it shows.
///
/// Isolation: not `Sendable`; it belongs to a node.
final class IncludedList<Item: Sendable> {
    let node: ListNode<OwnerRow<Item>>
    /// Its number as an owner in the levels that it shares with other lists.
    var number: Int32 = 0
    private(set) var shown: [OwnerRow<Item>] = []
    /// For each level, the numbers of the contents retained for the visible rows; -1 for a row without one.
    private var contents: [[Int32]] = []

    init(_ spec: ListSpec<OwnerRow<Item>>) { node = ListNode(spec) }

    /// Reads everything. The levels have nothing of it.
    func reload(_ levels: [any IncludedLevel<Item>], _ snapshot: Snapshot) throws -> ListUpdate<OwnerRow<Item>>? {
        (shown, contents) = ([], levels.map { _ in [] })
        try node.reload(snapshot)
        return try settle(levels, snapshot)
    }

    /// Updates what is shown from the applied changes, and retains and releases contents accordingly.
    ///
    /// - Returns: The update; nil if nothing has changed.
    func settle(_ levels: [any IncludedLevel<Item>], _ snapshot: Snapshot) throws -> ListUpdate<OwnerRow<Item>>? {
        try node.finishStep(snapshot)
        guard let update = node.takeUpdate(at: snapshot.position) else { return nil }
        guard update.fits(shown) else { throw StaleNode() }
        // After others are retained: most of them are the same.
        for (level, released) in zip(levels, try turnOver(update, levels, snapshot)) {
            for content in released where content >= 0 { level.release(content, by: number) }
        }
        return update
    }

    /// Applies an update to the visible rows, and retains the contents of new ones. A row with new values counts as
    /// removed and inserted.
    ///
    /// - Returns: For each level, the contents retained for rows that are no longer visible.
    private func turnOver(
        _ update: ListUpdate<OwnerRow<Item>>, _ levels: [any IncludedLevel<Item>], _ snapshot: Snapshot
    ) throws -> [[Int32]] {
        var released = levels.map { _ in [Int32]() }
        func insert(_ row: OwnerRow<Item>, at index: Int) throws {
            shown.insert(row, at: index)
            for (level, included) in levels.enumerated() {
                let content = try included.retain(row.values[level], for: number, in: snapshot)
                contents[level].insert(content ?? -1, at: index)
            }
        }
        func remove(at index: Int) {
            shown.remove(at: index)
            for level in levels.indices { released[level].append(contents[level].remove(at: index)) }
        }
        if let whole = update.whole {
            (shown, released, contents) = ([], contents, levels.map { _ in [] })
            for row in whole { try insert(row, at: shown.count) }
        }
        for change in update.changes {
            switch change {
            case .insert(let row, let index): try insert(row, at: index)
            case .remove(let index): remove(at: index)
            case .update(let row, let index):
                remove(at: index)
                try insert(row, at: index)
            case .move(let row, let from, let to):
                remove(at: from)
                try insert(row, at: to)
            }
        }
        return released
    }

    /// The visible rows whose content in a level has changed.
    ///
    /// - Complexity: O(rows that are shown), a nanosecond each.
    func changedIndices(_ levels: [any IncludedLevel<Item>]) -> [Int] {
        var changed: [Int] = []
        for (level, included) in levels.enumerated() where included.hasChanges {
            let isChanged = included.isChanged
            for (row, content) in contents[level].enumerated() where content >= 0 && isChanged[Int(content)] {
                changed.append(row)
            }
        }
        return levels.count == 1 ? changed : Set(changed).sorted()
    }

    /// Releases the contents retained for its rows.
    func release(_ levels: [any IncludedLevel<Item>]) {
        for (level, kept) in zip(levels, contents) {
            for content in kept where content >= 0 { level.release(content, by: number) }
        }
    }

    /// A row together with what it includes.
    static func filled(_ row: OwnerRow<Item>, _ levels: [any IncludedLevel<Item>]) -> Item {
        var item = row.item
        for (index, level) in levels.enumerated() { level.fill(&item, row.values[index]) }
        return item
    }
}
