internal import GRDB
internal import StorageCore
internal import StorageEntities
internal import StorageRecords
package import StorageRouting

/// A list of rows that code, not SQL, filters and sorts, kept up to date change by change.
///
/// 1. It holds the first items in the list's order without gaps, or the last ones: at least as many as are shown,
///    unless there are fewer.
/// 2. A change costs one look-up of its row, shared with other lists, and a search among the items.
/// 3. All rows are read again only if too few items are left.
package final class EvaluatedListNode<Row: Sendable, Item: Sendable & Equatable, SortKey: Sendable>: SteppedNode {
    private struct Entry {
        /// The row's key.
        let row: [UInt8]
        let sortKey: SortKey
        var item: Item
    }

    private let spec: EvaluatedListSpec<Row, Item, SortKey>
    private var layout: RowLayout?
    private var evaluation: EvaluatedListSpec<Row, Item, SortKey>.Evaluation?
    /// The order of the rows' keys, by which rows are known.
    private var keys: RowSorting?
    private var predicate: RowPredicate?
    private var entries: [Entry] = []
    /// The sort keys of the entries, by row.
    private var sortKeys: [[UInt8]: SortKey] = [:]
    /// How many entries are shown, as far as steps were made.
    private var shown = 0
    /// Whether there are no items behind the entries.
    private var reachesEnd = true
    private var isLive = false
    private var byteCount = 0
    /// The size of the largest item so far.
    private var largest = 0
    private var pending = PendingSteps<ListUpdate<Item>>()
    package var pendingUpdate: PendingUpdate<ListUpdate<Item>>?

    /// How many items are kept ready behind those that are shown.
    private let margin: Int
    /// The number of margins kept before items at the end are dropped.
    private static var keptMargins: Int { 3 }

    package init(_ spec: EvaluatedListSpec<Row, Item, SortKey>) {
        self.spec = spec
        margin = max(16, (spec.limit ?? 0) / 2)
    }

    package var ownInterests: [Interest] { [Interest(entity: spec.entity, predicate: predicate)] }

    package func bind(to layouts: [RowLayout]) throws {
        let layout = layouts[0]
        self.layout = layout
        predicate = spec.predicate(Set(layout.columns.map(\.name)))
        isLive = false
    }
}

// MARK: Reading

extension EvaluatedListNode {
    package func reload(_ snapshot: Snapshot) throws {
        isLive = false
        let evaluation = try spec.evaluation(snapshot.rows)
        self.evaluation = evaluation
        let table = evaluation.form.table
        let order = table.key.map { RowOrdering(table.columns[$0].name, collation: .binary) }
        keys = try layout.flatMap { try RowSorting(order, of: table, in: $0) }
        (entries, byteCount, reachesEnd) = ([], 0, true)
        let query = try QuerySQL(RowRequest(predicate: predicate), of: table)
        try snapshot.run(query.select(limit: nil)) { found in
            while try found.next() {
                let row = try evaluation.form.read(found.row)
                guard let (item, sortKey) = try evaluation.item(row) else { continue }
                entries.append(Entry(row: keys?.key(of: found.row) ?? [], sortKey: sortKey, item: item))
                byteCount += spec.memory.byteCount(item)
                try cutWhileReading()
            }
        }
        cut(to: spec.limit.map { $0 + margin })
        if byteCount > spec.memory.limit { cut(to: spec.limit) }
        try spec.memory.reserve(byteCount)
        sortKeys = Dictionary(entries.map { ($0.row, $0.sortKey) }) { _, last in last }
        largest = entries.reduce(largest) { max($0, spec.memory.byteCount($1.item)) }
        shown = min(spec.limit ?? .max, entries.count)
        isLive = keys != nil
        pending.replace(with: whole)
    }

    /// Keeps memory bounded, and sorting rare: each cut removes half of the items, or half of the bytes.
    private func cutWhileReading() throws {
        if let limit = spec.limit, entries.count / 2 > limit + margin { cut(to: limit + margin) }
        guard byteCount > 2 * spec.memory.limit else { return }
        if spec.limit != nil { cut(to: spec.limit) }
        if byteCount > spec.memory.limit { try spec.memory.reserve(byteCount) }
    }

    /// Sorts the entries, and drops those behind the first ones.
    private func cut(to count: Int?) {
        entries.sort { isBefore($0.sortKey, $1.sortKey) }
        guard let count, entries.count > count else { return }
        entries.removeLast(entries.count - count)
        byteCount = entries.reduce(0) { $0 + spec.memory.byteCount($1.item) }
        reachesEnd = false
    }

    /// The order of the entries: from the end of the list on where the last items are shown.
    private func isBefore(_ left: SortKey, _ right: SortKey) -> Bool {
        spec.isLimitedToLast ? spec.isBefore(right, left) : spec.isBefore(left, right)
    }
}

// MARK: Changes

extension EvaluatedListNode {
    package func apply(_ change: ChangedRow, in snapshot: Snapshot) throws {
        guard isLive, let keys, let evaluation, change.effect != .uncertain else { throw StaleNode() }
        if change.effect != .enter {
            guard let row = keys.key(of: change, .old) else { throw StaleNode() }
            let new = try change.effect == .leave ? nil : entry(of: change, keys, evaluation, snapshot)
            if let sortKey = sortKeys[row] {
                return try replace(row, at: place(ofKnown: sortKey), by: new)
            }
            if let new { insert(new) }
        } else if let new = try entry(of: change, keys, evaluation, snapshot) {
            guard sortKeys[new.row] == nil else { throw StaleNode() }
            insert(new)
        }
    }

    private func entry(
        of change: ChangedRow, _ keys: RowSorting,
        _ evaluation: EvaluatedListSpec<Row, Item, SortKey>.Evaluation, _ snapshot: Snapshot
    ) throws -> Entry? {
        guard let row = keys.key(of: change, .new) else { throw StaleNode() }
        guard let (item, sortKey) = try evaluation.item(snapshot.item(evaluation.form, change)) else { return nil }
        return Entry(row: row, sortKey: sortKey, item: item)
    }

    /// The index of a sort key, or where it would be inserted.
    private func place(of sortKey: SortKey) -> Int {
        // By indices: entries aren't copied to be looked at.
        entries.indices.partitioningIndex { !isBefore(entries[$0].sortKey, sortKey) }
    }

    private func place(ofKnown sortKey: SortKey) throws -> Int {
        let place = place(of: sortKey)
        guard place < entries.count, !isBefore(sortKey, entries[place].sortKey) else { throw StaleNode() }
        return place
    }

    private func replace(_ row: [UInt8], at index: Int, by new: Entry?) throws {
        guard entries[index].row == row else { throw StaleNode() }
        guard let new else { return remove(at: index) }
        let old = entries[index]
        var target = place(of: new.sortKey)
        // The old entry still counts, so indices after it are one too high.
        if target > index { target -= 1 }
        // At the end, there may be items before it that aren't known.
        guard target < entries.count - 1 || reachesEnd, index < shown, target < shown else {
            remove(at: index)
            return insert(new)
        }
        entries.remove(at: index)
        entries.insert(new, at: target)
        sortKeys[row] = nil
        sortKeys[new.row] = new.sortKey
        count(new.item, instead: old.item)
        if index != target {
            enqueue(.move(new.item, from: shownIndex(index), to: shownIndex(target)))
        } else if old.item != new.item {
            enqueue(.update(new.item, at: shownIndex(index)))
        }
    }

    private func insert(_ entry: Entry) {
        let index = place(of: entry.sortKey)
        // Behind the last entry there may be others before it.
        guard index < entries.count || reachesEnd else { return }
        entries.insert(entry, at: index)
        sortKeys[entry.row] = entry.sortKey
        count(entry.item)
        guard index < spec.limit ?? .max else { return }
        if shown == spec.limit { hide(shown - 1) }
        show(entry.item, at: index)
    }

    private func remove(at index: Int) {
        let entry = entries.remove(at: index)
        sortKeys[entry.row] = nil
        byteCount -= spec.memory.byteCount(entry.item)
        guard index < shown else { return }
        hide(index)
        if shown < min(spec.limit ?? .max, entries.count) { show(entries[shown].item, at: shown) }
    }

    private func count(_ item: Item, instead old: Item? = nil) {
        let bytes = spec.memory.byteCount(item)
        byteCount += bytes - (old.map(spec.memory.byteCount) ?? 0)
        largest = max(largest, bytes)
    }

    package func finishStep(_ snapshot: Snapshot) throws {
        if let limit = spec.limit {
            guard reachesEnd || entries.count >= limit else { throw StaleNode() }
            if entries.count > limit + Self.keptMargins * margin || byteCount > spec.memory.limit {
                drop(to: entries.count > limit + margin ? limit + margin : limit)
            }
        }
        try spec.memory.reserve(byteCount)
    }

    private func drop(to count: Int) {
        for entry in entries.dropFirst(count) {
            sortKeys[entry.row] = nil
            byteCount -= spec.memory.byteCount(entry.item)
            reachesEnd = false
        }
        entries.removeLast(max(0, entries.count - count))
    }
}

// MARK: Publishing

extension EvaluatedListNode {
    /// The index at which a reader finds an entry that is shown.
    private func shownIndex(_ index: Int) -> Int { spec.isLimitedToLast ? shown - 1 - index : index }

    private func show(_ item: Item, at index: Int) {
        shown += 1
        enqueue(.insert(item, at: shownIndex(index)))
    }

    private func hide(_ index: Int) {
        enqueue(.remove(at: shownIndex(index)))
        shown -= 1
    }

    private func enqueue(_ change: ListChange<Item>) { pending.append(change) }

    package func takeUpdate(at position: Int64) -> ListUpdate<Item>? { pending.take(at: position) }

    package func invalidate() {
        isLive = false
        pending.removeAll()
    }

    package var header: ListUpdate<Item> { pending.header }

    package var whole: [Item] {
        let items = entries.prefix(shown).map(\.item)
        return spec.isLimitedToLast ? items.reversed() : items
    }

    package var rowCount: Int { entries.count }

    /// Bounds the bytes of pending steps: a few large items must not make them larger than the list may be.
    package var updateLimit: Int {
        min(ListUpdate<Item>.stepLimit(rowCount: shown), max(4, spec.memory.limit / 4 / max(1, largest)))
    }
}
