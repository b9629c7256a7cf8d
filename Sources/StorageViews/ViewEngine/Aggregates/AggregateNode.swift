internal import CSQLite
internal import StorageCore
internal import StorageEntities
internal import StorageLog
package import StorageRouting

/// Counts, sums and other aggregates of the rows that a query finds, in total or for each group, kept up to date from
/// the old and new values of changed rows.
///
/// A change costs its old and its new group, whatever the number of rows: no statement is run unless all the least or
/// greatest values that are kept were removed. A query with a limit, or columns with a custom collation, are queried
/// again at each change that affects them.
///
/// It publishes groups in the order of their keys; one row if it isn't grouped.
package final class AggregateNode: SteppedNode {
    let spec: AggregateSpec
    /// Nil if SQLite computes the aggregates again at each change.
    private var plan: AggregatePlan?
    private var layout: RowLayout?
    private var groups: [PackedKey: GroupTotals] = [:]
    /// The groups that were published, in their order.
    private var sorted: [GroupTotals] = []
    private var dirty: [GroupTotals] = []
    /// The result that SQLite computed, if there is no plan.
    private var answered: [AggregateRow]?
    /// The result that was published last, if there is no plan.
    private var emitted: [AggregateRow]?
    /// Whether to publish everything, because it was reloaded or couldn't be published before.
    private var needsWhole = true
    private var hasPending = false
    private var position: Int64 = 0
    package var pendingUpdate: PendingUpdate<ListUpdate<AggregateRow>>?

    /// The most groups that a step queries one by one: beyond that, one scan of all rows costs less.
    private static let questionLimit = 64

    package init(_ spec: AggregateSpec) { self.spec = spec }

    package var ownInterests: [Interest] {
        let columns = spec.groups + spec.terms.compactMap(\.column) + spec.request.relations.map(\.relation.column)
        return [
            Interest(
                entity: spec.table.name, predicate: spec.request.predicate, columns: spec.hasWindow ? nil : columns)
        ]
    }

    /// Lazy: not created if this node is part of another one that evaluates the conditions.
    package private(set) lazy var membership = RelatedMembership(of: spec.request, in: spec.table)

    package func bind(to layouts: [RowLayout]) throws {
        layout = layouts[0]
        plan = try AggregatePlan(spec, layouts[0])
    }
}

// MARK: Reading

extension AggregateNode {
    package func reload(_ snapshot: Snapshot) throws {
        groups = [:]
        sorted = []
        dirty = []
        answered = nil
        if let plan {
            if spec.groups.isEmpty { _ = group(UnsafeRawBufferPointer(start: nil, count: 0), of: plan) { [] } }
            if plan.onlyCounts { try count(plan, snapshot) } else { try scan(plan, snapshot) }
        } else {
            answered = try queryDatabase(snapshot)
        }
        needsWhole = true
        hasPending = true
    }

    /// Computes the aggregates in SQLite.
    private func queryDatabase(_ snapshot: Snapshot) throws -> [AggregateRow] {
        let terms = try spec.terms.map { try $0.sql(spec.table) }
        let names = try spec.groups.map { try spec.table.column(named: $0) }
        var text = try QuerySQL(spec.request, of: spec.table).aggregate((names + terms).joined(separator: ", "))
        if !names.isEmpty {
            let list = names.joined(separator: ", ")
            text.sql += " GROUP BY \(list) ORDER BY \(list)"
        }
        return try snapshot.run(text) { found in
            var rows: [AggregateRow] = []
            while try found.next() {
                let values = (0..<names.count + terms.count).map { found.row.value(at: Int32($0)) }
                rows.append(
                    AggregateRow(key: Array(values.prefix(names.count)), values: Array(values.suffix(terms.count))))
            }
            return rows
        }
    }

    /// Counts in SQLite, which may use an index.
    private func count(_ plan: AggregatePlan, _ snapshot: Snapshot) throws {
        let names = try spec.groups.map { try spec.table.column(named: $0) }
        var text = try QuerySQL(spec.request, of: spec.table).aggregate((names + ["count(*)"]).joined(separator: ", "))
        if !names.isEmpty { text.sql += " GROUP BY \(names.joined(separator: ", "))" }
        try snapshot.run(text) { found in
            while try found.next() {
                let group = group(plan.groupKey(of: found.row), of: plan) { plan.groupValues(of: found.row) }
                group.count += Int(sqlite3_column_int64(found.row.statement, Int32(names.count)))
            }
        }
    }

    /// Goes through all rows once.
    private func scan(_ plan: AggregatePlan, _ snapshot: Snapshot) throws {
        let names = try plan.columns.map { try spec.table.column(named: $0) }
        let text = try QuerySQL(spec.request, of: spec.table).aggregate(names.joined(separator: ", "))
        try snapshot.run(text) { found in
            while try found.next() {
                let group = group(plan.groupKey(of: found.row), of: plan) { plan.groupValues(of: found.row) }
                group.count += 1
                for (term, accumulator) in zip(plan.terms, group.accumulators) {
                    accumulator?.add(storage_value(borrowing: found.row, column: term.read))
                }
            }
        }
    }

    /// Returns the group of a key, and creates it if needed.
    private func group(
        _ key: UnsafeRawBufferPointer, of plan: AggregatePlan, values: () -> [StorageValue]
    ) -> GroupTotals {
        let id = PackedKey(key)
        if let known = groups[id] { return known }
        let group = GroupTotals(id, sort: Array(key), key: values(), plan.accumulators())
        groups[id] = group
        return group
    }

    package func finishStep(_ snapshot: Snapshot) throws {
        guard let plan else { return }
        var left = Self.questionLimit
        for group in dirty where group.count > 0 {
            if group.isKeyOld {
                left -= 1
                guard left >= 0 else { throw StaleNode() }
                try readKey(of: group, snapshot)
            }
            for (term, accumulator) in zip(plan.terms, group.accumulators) {
                guard let extreme = accumulator as? ExtremeAccumulator, extreme.isExhausted else { continue }
                left -= 1
                // One scan costs less.
                guard left >= 0 else { throw StaleNode() }
                try refill(extreme, column: plan.columns[Int(term.read)], of: group, in: snapshot)
            }
        }
    }

    /// The conditions that select the rows of a group.
    private func rows(of group: GroupTotals) -> [RowPredicate] {
        let same = zip(spec.groups, group.key).map {
            RowPredicate.comparison(column: $0, .same, .value($1), collation: nil)
        }
        return [spec.request.predicate].compactMap { $0 } + same
    }

    /// Reads the key of a group from one of its remaining rows: their texts may differ while SQLite considers them
    /// equal.
    private func readKey(of group: GroupTotals, _ snapshot: Snapshot) throws {
        let names = try spec.groups.map { try spec.table.column(named: $0) }
        var text = try QuerySQL(
            RowRequest(predicate: .all(rows(of: group)), relations: spec.request.relations), of: spec.table
        )
        .aggregate(names.joined(separator: ", "))
        text.sql += " LIMIT 1"
        try snapshot.run(text) { found in
            guard try found.next() else { throw StaleNode() }
            group.key = names.indices.map { found.row.value(at: Int32($0)) }
        }
        group.isKeyOld = false
    }

    /// Reads the best values of a group.
    private func refill(
        _ extreme: ExtremeAccumulator, column: String, of group: GroupTotals, in snapshot: Snapshot
    ) throws {
        guard let layout else { throw StaleNode() }
        let known = rows(of: group) + [.not(.isNull(column: column))]
        let name = try spec.table.column(named: column)
        let declared = layout.columns[try layout.index(named: column)]
        // Values that compare as equal and aren't the same are kept apart, where there can be such.
        let isPlain = declared.collation == .binary && declared.affinity != .blob
        let terms = isPlain ? name : "\(name), \(name) COLLATE BINARY, typeof(\(name))"
        let count = spec.extremeCount
        var text = try QuerySQL(RowRequest(predicate: .all(known), relations: spec.request.relations), of: spec.table)
            .aggregate("\(name), count(*)")
        text.sql += " GROUP BY \(terms) ORDER BY \(name)\(extreme.isMaximum ? " DESC" : "") LIMIT \(count)"
        let values = try snapshot.run(text) { found in
            var values: [(value: StorageValue, count: Int)] = []
            while try found.next() {
                values.append((found.row.value(at: 0), Int(sqlite3_column_int64(found.row.statement, 1))))
            }
            return values
        }
        extreme.fill(values, isComplete: values.count < count)
    }
}

// MARK: Changes

extension AggregateNode {
    package func apply(_ change: ChangedRow, in snapshot: Snapshot) throws {
        guard let plan, change.effect != .uncertain else { throw StaleNode() }
        // Added values are applied before removed ones, so that a group isn't empty in between.
        let new =
            change.effect == .leave
            ? nil : group(try plan.groupKey(of: change, .new), of: plan) { plan.groupValues(of: change, .new) }
        var old: GroupTotals?
        if change.effect != .enter {
            old = groups[PackedKey(try plan.groupKey(of: change, .old))]
            guard old != nil else { throw StaleNode() }
        }
        new?.count += 1
        old?.count -= 1
        if let old, plan.joinsTexts, plan.groupValues(of: change, .old) == old.key { old.isKeyOld = true }
        for (index, term) in plan.terms.enumerated() {
            guard let column = term.columnIndex else { continue }
            if let new, let accumulator = new.accumulators[index] {
                guard let value = change.value(column, .new) else { throw StaleNode() }
                if new === old, let before = change.value(column, .old), before.isSame(as: value) { continue }
                accumulator.add(value)
            }
            if let old, let accumulator = old.accumulators[index] {
                guard let value = change.value(column, .old) else { throw StaleNode() }
                try accumulator.remove(value)
            }
        }
        if let old, old.count < 0 { throw StaleNode() }
        for group in [new, old].compactMap({ $0 }) where !group.isDirty {
            group.isDirty = true
            dirty.append(group)
        }
        hasPending = true
    }
}

// MARK: Publishing

extension AggregateNode {
    /// - Throws: If a sum is too large: no group is published then, as SQLite's statement would fail too, until the sum
    ///   fits again.
    package func takeUpdate(at position: Int64) throws -> ListUpdate<AggregateRow>? {
        guard hasPending else { return nil }
        hasPending = false
        var update = ListUpdate<AggregateRow>()
        if needsWhole {
            guard let whole = try takeWhole() else { return nil }
            update.whole = whole
        } else {
            for group in dirty { update.changes += try takeChanges(of: group) }
            dirty = []
            guard !update.changes.isEmpty else { return nil }
        }
        self.position = position
        (update.position, update.total) = (position, rowCount)
        return update
    }

    /// - Returns: Nil if nothing has changed.
    private func takeWhole() throws -> [AggregateRow]? {
        if let answered {
            guard answered != emitted else { return nil }
            emitted = answered
            return answered
        }
        dirty = []
        for group in groups.values {
            group.isDirty = false
            if group.count == 0, !spec.groups.isEmpty { groups[group.id] = nil }
        }
        sorted = groups.values.sorted { RowSorting.isBefore($0.sort, $1.sort) }
        let rows = try sorted.map { try $0.row() }
        for (group, row) in zip(sorted, rows) { group.emitted = row }
        needsWhole = false
        return rows
    }

    private func takeChanges(of group: GroupTotals) throws -> [ListChange<AggregateRow>] {
        group.isDirty = false
        let index = sorted.partitioningIndex { !RowSorting.isBefore($0.sort, group.sort) }
        if group.count == 0, !spec.groups.isEmpty {
            groups[group.id] = nil
            guard group.emitted != nil else { return [] }
            sorted.remove(at: index)
            return [.remove(at: index)]
        }
        let row = try group.row()
        let before = group.emitted
        group.emitted = row
        guard let before else {
            sorted.insert(group, at: index)
            return [.insert(row, at: index)]
        }
        if before == row { return [] }
        // A reader that identifies groups by their keys sees another group.
        return before.key == row.key ? [.update(row, at: index)] : [.remove(at: index), .insert(row, at: index)]
    }

    package func invalidate() { (emitted, needsWhole) = (nil, true) }

    package var header: ListUpdate<AggregateRow> {
        var update = ListUpdate<AggregateRow>()
        (update.position, update.total) = (position, rowCount)
        return update
    }

    package var whole: [AggregateRow] { answered ?? sorted.compactMap(\.emitted) }

    package var rowCount: Int { answered?.count ?? sorted.count }
}
