internal import StorageCore
internal import StorageEntities
internal import StorageLog
package import StorageRouting

/// A list of rows in an order, or a window on it, kept up to date change by change.
///
/// It holds a run of rows without gaps that covers the window and a margin on either side, and knows how many rows lie
/// before the run. A change inside of the run is made there; one before it moves the run by one; one behind it is
/// nothing. Only where a margin is used up are rows read: those next to the last one, along the order.
package final class ListNode<Item: Sendable>: WindowNode {
    struct Row {
        let sort: [UInt8]
        var item: Item
    }

    let spec: ListSpec<Item>
    private(set) var offset: Int
    private(set) var limit: Int?
    private var sorting: RowSorting?
    private var layout: RowLayout?
    private var rows: [Row] = []
    /// How many rows lie before the run.
    private var start = 0
    /// Whether no row lies behind it.
    private var reachesEnd = true
    private var total: Int?
    private var isLive = false
    private var pending = PendingSteps<ListUpdate<Item>>()
    package var pendingUpdate: PendingUpdate<ListUpdate<Item>>?

    /// Of how many margins rows are kept: more than are read at once, so that a window that moves to and fro doesn't
    /// read the same rows again and again.
    private static var keptMargins: Int { 3 }

    package init(_ spec: ListSpec<Item>) {
        self.spec = spec
        offset = spec.request.offset
        limit = spec.request.limit
    }

    package var interests: [Interest] {
        Interest(entity: spec.form.table.name, predicate: spec.request.predicate).with(spec.request.relations)
    }

    package func bind(to layouts: [RowLayout]) throws {
        layout = layouts[0]
        sorting = try RowSorting(query(offset: 0, limit: nil).totalOrder, of: spec.form.table, in: layouts[0])
        isLive = false
    }

    private func query(offset: Int, limit: Int?) throws -> QuerySQL {
        var request = spec.request
        request.offset = offset
        request.limit = limit
        return try QuerySQL(request, of: spec.form.table)
    }
}

// MARK: Reading

extension ListNode {
    package func reload(_ snapshot: Snapshot) throws {
        let lower = max(0, offset - spec.margin)
        // One at least, to see whether there is anything.
        let asked = limit.map { max(1, offset - lower + $0 + spec.margin) }
        let query = try query(offset: lower, limit: asked)
        rows = try read(query.select(limit: asked), snapshot)
        reachesEnd = asked.map { rows.count < $0 } ?? true
        let needsTotal = rows.isEmpty && lower > 0
        let counted =
            spec.counts && !reachesEnd || needsTotal
            ? try snapshot.integer(self.query(offset: 0, limit: nil).aggregate("count(*)")) : nil
        start = needsTotal ? counted ?? 0 : lower
        total = spec.counts ? counted ?? start + rows.count : nil
        isLive = sorting != nil
        try fetchMissing(snapshot)
        enqueueWhole()
    }

    private func read(_ text: QuerySQL.Text, _ snapshot: Snapshot) throws -> [Row] {
        try snapshot.run(text) { found in
            var rows: [Row] = []
            while try found.next() {
                rows.append(Row(sort: sorting?.key(of: found.row) ?? [], item: try spec.form.read(found.row)))
            }
            return rows
        }
    }

    /// Rows for which the list's own condition and another one are true, whether they are in the window or not, and whatever
    /// the conditions on related rows say.
    ///
    /// - Throws: ``StaleNode`` where they are so many that reading the list again costs less.
    func rows(where condition: RowPredicate, _ snapshot: Snapshot) throws -> [Row] {
        let limit = 20_000
        let predicate = spec.request.predicate.map { condition && $0 } ?? condition
        let query = try QuerySQL(RowRequest(predicate: predicate), of: spec.form.table)
        let found = try read(query.select(limit: limit + 1), snapshot)
        guard found.count <= limit else { throw StaleNode() }
        return found
    }

    package func finishStep(_ snapshot: Snapshot) throws {
        try fetchMissing(snapshot, emits: true)
        trim()
    }

    /// Reads rows at the ends of the run until it covers the window.
    private func fetchMissing(_ snapshot: Snapshot, emits: Bool = false) throws {
        if let limit, !reachesEnd, start + rows.count < offset + limit {
            guard let last = rows.last else { throw StaleNode() }
            let count = offset + limit - start - rows.count + spec.margin
            let found = try neighbours(of: last, backwards: false, count: count, in: snapshot)
            let before = visible
            rows += found
            reachesEnd = found.count < count
            if emits { show(before) }
        }
        returnToLastPage()
        if start > offset {
            let count = min(start, start - offset + spec.margin)
            let found = try neighbours(of: rows.first, backwards: true, count: count, in: snapshot)
            guard found.count == count else { throw StaleNode() }
            let before = visible
            rows.insert(contentsOf: found.reversed(), at: 0)
            start -= count
            if emits { show(before.lowerBound + count..<before.upperBound + count) }
        }
    }

    /// A page behind the last row is no page: another commit may have taken its rows while somebody turned to it.
    private func returnToLastPage() {
        let count = start + rows.count
        guard spec.isPage, let limit, limit > 0, reachesEnd, offset > 0, offset >= count else { return }
        let before = visible
        offset = max(0, count - 1) / limit * limit
        pending.note()
        show(before)
    }

    private func neighbours(
        of row: Row?, backwards: Bool, count: Int, in snapshot: Snapshot
    ) throws -> [Row] {
        guard let sorting else { throw StaleNode() }
        let values = row.map { sorting.values(of: $0.sort) }
        return try read(
            query(offset: 0, limit: nil).neighbours(of: values, backwards: backwards, limit: count), snapshot)
    }

    /// Gives up rows that lie far from the window.
    private func trim() {
        guard let limit else { return }
        let kept = Self.keptMargins * spec.margin
        let excess = start + rows.count - (offset + limit + kept)
        if excess > 0 {
            rows.removeLast(min(excess, rows.count))
            reachesEnd = false
        }
        let early = offset - kept - start
        if early > 0 {
            let count = min(early, rows.count)
            rows.removeFirst(count)
            start += count
        }
    }

    /// Shows another part of the rows.
    package func move(offset: Int, limit: Int?, _ snapshot: Snapshot) throws {
        (self.offset, self.limit) = (offset, limit)
        let span = (limit ?? 0) + spec.margin
        let isNear = isLive && limit != nil && offset >= start - span && offset <= start + rows.count
        guard isNear else { return try reload(snapshot) }
        do {
            try fetchMissing(snapshot)
            trim()
            enqueueWhole()
        } catch is StaleNode {
            try reload(snapshot)
        }
    }
}

// MARK: Changes

extension ListNode {
    package func apply(_ change: ChangedRow, in snapshot: Snapshot) throws {
        try apply(
            change.effect, from: change.effect == .enter ? nil : sortKey(of: change, .old),
            to: change.effect == .leave ? nil : sortKey(of: change, .new)
        ) { try snapshot.item(spec.form, change) }
    }

    /// The key of a changed row in the order; nil where it isn't known.
    func sortKey(of change: ChangedRow, _ image: RowKeys.Image) -> [UInt8]? { sorting?.key(of: change, image) }

    /// Applies what a row does, by the keys that it had and has in the order.
    func apply(
        _ effect: SubscriptionEffect, from old: [UInt8]?, to new: [UInt8]?, item: () throws -> Item
    ) throws {
        guard isLive else { throw StaleNode() }
        switch effect {
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

    /// The place of a key, or where it would be.
    private func search(_ sort: [UInt8]) -> (index: Int, isFound: Bool) {
        // By indices: rows aren't copied to be looked at.
        let index = rows.indices.partitioningIndex { !RowSorting.isBefore(rows[$0].sort, sort) }
        return (index, index < rows.count && rows[index].sort == sort)
    }

    private func enter(_ sort: [UInt8], item: () throws -> Item) throws {
        let (index, isFound) = search(sort)
        guard !isFound, !rows.isEmpty || reachesEnd else { throw StaleNode() }
        if index == 0, start > 0 {
            shift(by: 1)
        } else if index < rows.count || reachesEnd {
            insert(Row(sort: sort, item: try item()), at: index)
        }
    }

    private func leave(_ sort: [UInt8]) throws {
        let (index, isFound) = search(sort)
        if isFound {
            remove(at: index)
            if rows.isEmpty, !reachesEnd { throw StaleNode() }
        } else if index == 0, start > 0 {
            shift(by: -1)
        } else if index < rows.count || reachesEnd {
            throw StaleNode()
        }
    }

    private func stay(from old: [UInt8], to new: [UInt8], item: () throws -> Item) throws {
        let (from, isFound) = search(old)
        guard isFound else {
            try leave(old)
            return try enter(new, item: item)
        }
        if old == new {
            rows[from].item = try item()
            let visible = visible
            if visible.contains(from) { enqueue(.update(rows[from].item, at: from - visible.lowerBound)) }
            return
        }
        var (to, _) = search(new)
        // As long as the row is still there, everything behind it stands one place further back.
        if to > from { to -= 1 }
        let isInside = (to > 0 || start == 0) && (to < rows.count - 1 || reachesEnd)
        let visible = visible
        // A row that comes right before the first one is a row before the window, wherever it comes from.
        let comesBefore = spec.isAnchored && offset > 0 && to == visible.lowerBound && to < from
        if isInside, !comesBefore, visible.contains(from), visible.contains(to) {
            let row = Row(sort: new, item: try item())
            rows.remove(at: from)
            rows.insert(row, at: to)
            let shown = visible.lowerBound
            enqueue(
                from == to ? .update(row.item, at: to - shown) : .move(row.item, from: from - shown, to: to - shown))
        } else {
            try leave(old)
            try enter(new, item: item)
        }
    }
}

// MARK: The window

extension ListNode {
    /// The part of the run that is shown.
    private var visible: Range<Int> {
        let lower = min(max(0, offset - start), rows.count)
        guard let limit else { return lower..<rows.count }
        return lower..<max(lower, min(rows.count, offset + limit - start))
    }

    /// More or fewer rows lie before the run than before.
    private func shift(by count: Int) {
        let before = visible
        start += count
        if follows(count) { return }
        show(before)
    }

    /// Whether the window goes along with rows that came or went before it.
    private func follows(_ count: Int) -> Bool {
        guard spec.isAnchored, offset > 0 else { return false }
        offset += count
        pending.note()
        return true
    }

    private func insert(_ row: Row, at index: Int) {
        let before = visible
        rows.insert(row, at: index)
        if index <= before.lowerBound {
            if follows(1) { return }
            show(before.lowerBound + 1..<before.upperBound + 1)
        } else if index < before.upperBound {
            enqueue(.insert(row.item, at: index - before.lowerBound))
            show(before.lowerBound..<before.upperBound + 1)
        } else {
            show(before)
        }
    }

    private func remove(at index: Int) {
        let before = visible
        rows.remove(at: index)
        if index < before.lowerBound {
            if follows(-1) { return }
            show(before.lowerBound - 1..<before.upperBound - 1)
        } else if index < before.upperBound {
            enqueue(.remove(at: index - before.lowerBound))
            show(before.lowerBound..<before.upperBound - 1)
        } else {
            show(before)
        }
    }

    /// Enqueues what enters and leaves the window at its ends, now that another part is shown.
    private func show(_ before: Range<Int>) {
        let now = visible
        guard before.overlaps(now) else {
            for _ in before { enqueue(.remove(at: 0)) }
            for index in now { enqueue(.insert(rows[index].item, at: index - now.lowerBound)) }
            return
        }
        for _ in before.lowerBound..<max(before.lowerBound, now.lowerBound) { enqueue(.remove(at: 0)) }
        if now.lowerBound < before.lowerBound {
            for index in (now.lowerBound..<before.lowerBound).reversed() { enqueue(.insert(rows[index].item, at: 0)) }
        }
        for index in now.upperBound..<max(now.upperBound, before.upperBound) {
            // From the end on, so that indices stay what they are.
            let last = before.upperBound - 1 - (index - now.upperBound)
            enqueue(.remove(at: last - now.lowerBound))
        }
        if before.upperBound < now.upperBound {
            for index in before.upperBound..<now.upperBound {
                enqueue(.insert(rows[index].item, at: index - now.lowerBound))
            }
        }
    }
}

// MARK: Publishing

extension ListNode {
    private func enqueue(_ change: ListChange<Item>) { pending.append(change) }

    private func enqueueWhole() { pending.replace(with: whole) }

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

    package var whole: [Item] { rows[visible].map(\.item) }

    package var rowCount: Int { rows.count }
}
