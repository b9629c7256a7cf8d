internal import StorageCore
internal import StorageEntities

/// A list of rows that include others: a ``ListNode``, and the rows that it shows.
///
/// Isolation: not `Sendable`; it belongs to a node.
final class IncludedList<Entity: RegisteredEntity> {
    let node: ListNode<OwnerRow<Entity>>
    private(set) var shown: [OwnerRow<Entity>] = []
    /// How many rows that are shown have it.
    var ownerCount = 0

    init(_ spec: ListSpec<OwnerRow<Entity>>) { node = ListNode(spec) }

    /// Reads everything. The levels have nothing of it.
    func reload(_ levels: [any IncludedLevel<Entity>], _ snapshot: Snapshot) throws -> ListUpdate<OwnerRow<Entity>>? {
        shown = []
        try node.reload(snapshot)
        return try settle(levels, snapshot)
    }

    /// Makes of the changes that were applied what is shown, and lets the levels have what belongs to it.
    ///
    /// - Returns: What is new; nil where nothing is.
    func settle(_ levels: [any IncludedLevel<Entity>], _ snapshot: Snapshot) throws -> ListUpdate<OwnerRow<Entity>>? {
        try node.finishStep(snapshot)
        guard let update = node.takeUpdate(at: snapshot.position) else { return nil }
        guard update.fits(shown) else { throw StaleNode() }
        let (removed, added) = turnover(update)
        for (index, level) in levels.enumerated() {
            // Before others are released: most of them are the same.
            for row in added { try level.retain(row.values[index], snapshot) }
            for row in removed { level.release(row.values[index]) }
        }
        return update
    }

    /// Applies an update to the rows that are shown.
    ///
    /// - Returns: The rows that were shown and aren't any more, and those that are now: a row with other values is both.
    private func turnover(
        _ update: ListUpdate<OwnerRow<Entity>>
    ) -> (removed: [OwnerRow<Entity>], added: [OwnerRow<Entity>]) {
        var (removed, added): ([OwnerRow<Entity>], [OwnerRow<Entity>]) = ([], [])
        if let whole = update.whole {
            (removed, added) = (shown, whole)
            shown = whole
        }
        for change in update.changes {
            switch change {
            case .insert(let row, let index):
                added.append(row)
                shown.insert(row, at: index)
            case .remove(let index): removed.append(shown.remove(at: index))
            case .update(let row, let index):
                removed.append(shown[index])
                added.append(row)
                shown[index] = row
            case .move(let row, let from, let to):
                removed.append(shown.remove(at: from))
                added.append(row)
                shown.insert(row, at: to)
            }
        }
        return (removed, added)
    }

    /// Whether a level has something new of one of the rows.
    func hasChanges(_ levels: [any IncludedLevel<Entity>]) -> Bool { !changedIndices(levels).isEmpty }

    /// The rows of which a level has something new.
    func changedIndices(_ levels: [any IncludedLevel<Entity>]) -> [Int] {
        let changed = levels.indices.filter { levels[$0].hasChanges }
        guard !changed.isEmpty else { return [] }
        return shown.indices.filter { row in
            changed.contains { levels[$0].hasChanged(shown[row].values[$0]) }
        }
    }

    /// A row with what it includes.
    static func filled(_ row: OwnerRow<Entity>, _ levels: [any IncludedLevel<Entity>]) -> Entity {
        var entity = row.entity
        for (index, level) in levels.enumerated() { level.fill(&entity, row.values[index]) }
        return entity
    }
}
