internal import StorageCore
internal import StorageEntities
internal import StorageLog
package import StorageRouting

/// A sorted list of rows, or a window on it, kept up to date change by change.
///
/// It holds a contiguous run of rows that covers the window and a margin on either side, and knows how many rows
/// precede the run. A change inside the run is applied to it, one before it moves the run by one, and one behind it has
/// no effect. Rows are read only when a margin is used up: those next to the last one, in the list's order. Where a row
/// of a margin can't be read, there is no margin: only the rows that are shown must be readable.
package final class ListNode<Item: Sendable>: WindowNode {
    let spec: ListSpec<Item>
    var offset: Int
    var limit: Int?
    private(set) var sorting: RowSorting?
    private var layout: RowLayout?
    var rows = ListRun<Item>()
    /// How many rows lie before the run.
    var start = 0
    /// Whether no row lies behind it.
    var reachesEnd = true
    private var total: Int?
    var isLive = false
    var pending = PendingSteps<ListUpdate<Item>>()
    package var pendingUpdate: PendingUpdate<ListUpdate<Item>>?

    package init(_ spec: ListSpec<Item>) {
        self.spec = spec
        offset = spec.request.offset
        limit = spec.request.limit
    }

    package var ownInterests: [Interest] {
        [Interest(entity: spec.form.table.name, predicate: spec.request.predicate)]
    }

    /// Lazy: not created if the list is part of another node that evaluates the conditions.
    package private(set) lazy var membership = RelatedMembership(of: spec.request, in: spec.form.table)

    package func bind(to layouts: [RowLayout]) throws {
        layout = layouts[0]
        // Of the request as it is: its limit and offset are checked here.
        let query = try QuerySQL(spec.request, of: spec.form.table)
        sorting = try RowSorting(query.totalOrder, of: spec.form.table, in: layouts[0])
        isLive = false
    }

    func query(offset: Int, limit: Int?) throws -> QuerySQL {
        var request = spec.request
        request.offset = offset
        request.limit = limit
        return try QuerySQL(request, of: spec.form.table)
    }
}

// MARK: Reading

extension ListNode {
    package func reload(_ snapshot: Snapshot) throws {
        let (found, lower, asked) = try withMargin { margin in
            let lower = max(0, offset - margin)
            let asked = limit.map { offset - lower + $0 + margin }
            return (try read(query(offset: lower, limit: asked).select(limit: asked), snapshot), lower, asked)
        }
        rows = found
        reachesEnd = asked.map { rows.count < $0 } ?? true
        // Without any asked for, it isn't known whether there are rows there.
        let needsTotal = rows.isEmpty && reachesEnd && lower > 0
        let counted =
            spec.counts && !reachesEnd || needsTotal
            ? try snapshot.integer(query(offset: 0, limit: nil).aggregate("count(*)")) : nil
        start = needsTotal ? counted ?? 0 : lower
        total = spec.counts ? counted ?? start + rows.count : nil
        isLive = sorting != nil
        try fetchMissing(snapshot)
        enqueueWhole()
    }

    func read(_ text: QuerySQL.Text, _ snapshot: Snapshot) throws -> ListRun<Item> {
        try snapshot.run(text) { found in
            var rows = ListRun<Item>()
            while try found.next() {
                rows.append(try spec.form.read(found.row), sort: sorting?.key(of: found.row) ?? [])
            }
            return rows
        }
    }

    package func finishStep(_ snapshot: Snapshot) throws {
        try fetchMissing(snapshot, emits: true)
        trim()
    }
}

// MARK: Changes

extension ListNode {
    package func apply(_ change: ChangedRow, in snapshot: Snapshot) throws {
        guard isLive, let sorting else { throw StaleNode() }
        let item = { try snapshot.item(self.spec.form, change) }
        let old = change.effect == .enter ? nil : sorting.key(of: change, .old)
        let new = change.effect == .leave ? nil : sorting.key(of: change, .new)
        switch change.effect {
        case .enter:
            guard let new else { throw StaleNode() }
            if total != nil { count(by: 1) }
            try enter(new, item: item)
        case .leave:
            guard let old else { throw StaleNode() }
            if total != nil { count(by: -1) }
            try leave(old)
        case .stay:
            guard let old, let new else { throw StaleNode() }
            try stay(from: old, to: new, item: item)
        case .uncertain: throw StaleNode()
        }
    }

    private func count(by difference: Int) {
        total = (total ?? 0) + difference
        pending.note()
    }

    private func enter(_ sort: [UInt8], item: () throws -> Item) throws {
        let (index, isFound) = rows.search(sort)
        guard !isFound, !rows.isEmpty || reachesEnd else { throw StaleNode() }
        if index == 0, start > 0 {
            shift(by: 1)
        } else if index < rows.count || reachesEnd {
            insert(try item(), sort: sort, at: index)
        }
    }

    private func leave(_ sort: [UInt8]) throws {
        let (index, isFound) = rows.search(sort)
        if isFound {
            remove(at: index)
            if rows.isEmpty, !reachesEnd { throw StaleNode() }
        } else if index == 0, start > 0 {
            guard !rows.isEmpty || reachesEnd else { throw StaleNode() }
            shift(by: -1)
        } else if index < rows.count || reachesEnd {
            throw StaleNode()
        }
    }

    private func stay(from old: [UInt8], to new: [UInt8], item: () throws -> Item) throws {
        let (from, isFound) = rows.search(old)
        guard isFound else {
            try leave(old)
            return try enter(new, item: item)
        }
        if old == new {
            let row = try item()
            rows[from] = row
            let visible = visible
            if visible.contains(from) { enqueue(.update(row, at: from - visible.lowerBound)) }
            return
        }
        var (to, _) = rows.search(new)
        // The old row still counts, so indices after it are one too high.
        if to > from { to -= 1 }
        let isInside = (to > 0 || start == 0) && (to < rows.count - 1 || reachesEnd)
        let visible = visible
        // A row that comes right before the first one is a row before the window, wherever it comes from.
        let comesBefore = spec.isAnchored && offset > 0 && to == visible.lowerBound && to < from
        if isInside, !comesBefore, visible.contains(from), visible.contains(to) {
            let row = try item()
            rows.remove(at: from)
            rows.insert(row, sort: new, at: to)
            let shown = visible.lowerBound
            enqueue(from == to ? .update(row, at: to - shown) : .move(row, from: from - shown, to: to - shown))
        } else {
            try leave(old)
            try enter(new, item: item)
        }
    }
}

// MARK: Publishing

extension ListNode {
    func enqueue(_ change: ListChange<Item>) { pending.append(change) }

    func enqueueWhole() { pending.replace(with: whole) }

    package func takeUpdate(at position: Int64) -> ListUpdate<Item>? { pending.take(at: position).map(counted) }

    package func invalidate() {
        isLive = false
        pending.removeAll()
    }

    package var header: ListUpdate<Item> { counted(pending.header) }

    private func counted(_ update: ListUpdate<Item>) -> ListUpdate<Item> {
        var update = update
        (update.total, update.offset) = (total, offset)
        return update
    }

    package var whole: [Item] { Array(rows.items[visible]) }

    package var rowCount: Int { rows.count }
}
