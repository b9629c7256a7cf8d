internal import StorageCore
internal import StorageEntities
internal import StorageLog
package import StorageRouting

/// Rows grouped by a closure, kept up to date change by change.
///
/// It keeps the sort key and the group of every row, and the first rows of each group as they are shown. A change reads
/// its row once and touches its old and its new group; a row that moves into the visible rows is read as well.
package final class GroupNode<Item: Sendable, Key: Hashable & Sendable>: SteppedNode {
    final class Section {
        let key: Key
        /// The order in which groups came.
        let serial: Int
        /// Its index among the groups.
        var index = 0
        /// The keys of all its rows in their order, where changes can be applied one by one.
        var sorts: [[UInt8]] = []
        /// The first rows.
        var items: [Item] = []
        var count = 0
        var emittedCount = 0
        var isDirty = false

        init(_ key: Key, serial: Int) {
            self.key = key
            self.serial = serial
        }
    }

    let spec: GroupSpec<Item, Key>
    private var sorting: RowSorting?
    private var sections: [Section] = []
    private var byKey: [Key: Section] = [:]
    /// The groups of all rows, by sort key.
    private var members: [[UInt8]: Section] = [:]
    private var nextSerial = 0
    private var total = 0
    private var isLive = false
    private var dirty: [Section] = []
    private var pending = PendingSteps<GroupUpdate<Key, Item>>()
    package var pendingUpdate: PendingUpdate<GroupUpdate<Key, Item>>?

    /// The most rows that a step reads one by one: beyond that, reading everything costs less.
    private static var readLimit: Int { 256 }

    package init(_ spec: GroupSpec<Item, Key>) { self.spec = spec }

    package var ownInterests: [Interest] {
        [Interest(entity: spec.form.table.name, predicate: spec.request.predicate)]
    }

    package private(set) lazy var membership = RelatedMembership(of: spec.request, in: spec.form.table)

    package func bind(to layouts: [RowLayout]) throws {
        sorting = try RowSorting(query().totalOrder, of: spec.form.table, in: layouts[0])
        isLive = false
    }

    private func query() throws -> QuerySQL {
        guard spec.request.limit == nil, spec.request.offset == 0 else {
            throw StorageError(
                .invalidArgument, "A grouped query can't have a limit or an offset.",
                remedy: "Leave them out of the query; maxItemsPerGroup limits the rows of each group.")
        }
        return try QuerySQL(spec.request, of: spec.form.table)
    }
}

// MARK: Reading

extension GroupNode {
    package func reload(_ snapshot: Snapshot) throws {
        let kept = spec.fixedKeys + (spec.keepsEmptyGroups ? sections.map(\.key) : [])
        let text = try query().select(limit: nil)
        var found: [Section] = []
        (byKey, members, dirty, total) = ([:], [:], [], 0)
        try snapshot.run(text) { rows in
            while try rows.next() {
                let item = try spec.form.read(rows.row)
                let section = section(spec.key(item), &found)
                section.count += 1
                total += 1
                if spec.limit.map({ section.items.count < $0 }) ?? true { section.items.append(item) }
                guard let sorting else { continue }
                let sort = sorting.key(of: rows.row)
                section.sorts.append(sort)
                members[sort] = section
            }
        }
        for key in kept { _ = section(key, &found) }
        sections = found.sorted(by: isBefore)
        number(from: 0)
        for section in sections { section.emittedCount = section.count }
        isLive = sorting != nil
        pending.replace(with: whole)
    }

    private func section(_ key: Key, _ found: inout [Section]) -> Section {
        if let known = byKey[key] { return known }
        let section = Section(key, serial: nextSerial)
        nextSerial += 1
        byKey[key] = section
        found.append(section)
        return section
    }

    package func finishStep(_ snapshot: Snapshot) throws {
        guard isLive, !dirty.isEmpty else { return }
        try fill(snapshot)
        for section in dirty where section.count == 0 && !keeps(section) {
            byKey[section.key] = nil
            sections.remove(at: section.index)
            enqueue(.removeSection(at: section.index))
            number(from: section.index)
            section.index = -1
        }
        dirty.removeAll { $0.index < 0 }
        for section in dirty where section.count != section.emittedCount {
            section.emittedCount = section.count
            enqueue(.count(section.count, at: section.index))
        }
        if case .counts = spec.order.kind { reorder() }
        for section in dirty { section.isDirty = false }
        dirty = []
    }

    private func keeps(_ section: Section) -> Bool {
        spec.keepsEmptyGroups || spec.fixedKeys.contains(section.key)
    }

    /// Reads rows that have moved up into what is shown.
    private func fill(_ snapshot: Snapshot) throws {
        var left = Self.readLimit
        for section in dirty {
            while section.items.count < min(spec.limit ?? section.count, section.count) {
                left -= 1
                guard left >= 0 else { throw StaleNode() }
                let item = try row(at: section.sorts[section.items.count], snapshot)
                section.items.append(item)
                enqueue(.insert(item, at: GroupPath(section: section.index, row: section.items.count - 1)))
            }
        }
    }

    /// Reads the row with a sort key.
    private func row(at sort: [UInt8], _ snapshot: Snapshot) throws -> Item {
        guard let sorting else { throw StaleNode() }
        let order = try query().totalOrder
        let same = zip(order, sorting.values(of: sort)).map {
            RowPredicate.comparison(column: $0.column, .same, .value($1), collation: $0.collation)
        }
        let text = try QuerySQL(
            RowRequest(predicate: .all(same), relations: spec.request.relations), of: spec.form.table
        ).select(limit: 1)
        return try snapshot.run(text) { rows in
            guard try rows.next() else { throw StaleNode() }
            return try spec.form.read(rows.row)
        }
    }
}

// MARK: Changes

extension GroupNode {
    package func apply(_ change: ChangedRow, in snapshot: Snapshot) throws {
        guard isLive, let sorting, change.effect != .uncertain else { throw StaleNode() }
        var from: (section: Section, row: Int?)?
        if change.effect != .enter {
            guard let sort = sorting.key(of: change, .old), let section = members.removeValue(forKey: sort) else {
                throw StaleNode()
            }
            from = (section, try take(sort, from: section))
        }
        guard change.effect != .leave else {
            if let from, let row = from.row { enqueue(.remove(at: path(from.section, row))) }
            return
        }
        guard let sort = sorting.key(of: change, .new), members[sort] == nil else { throw StaleNode() }
        let item = try snapshot.item(spec.form, change)
        let section = arrive(spec.key(item))
        members[sort] = section
        let row = put(item, at: sort, into: section)
        switch (from?.row, row) {
        case (let old?, let new?):
            guard let before = from?.section else { break }
            let (old, new) = (path(before, old), path(section, new))
            enqueue(old == new ? .update(item, at: new) : .move(item, from: old, to: new))
        case (let old?, nil): if let before = from?.section { enqueue(.remove(at: path(before, old))) }
        case (nil, let new?): enqueue(.insert(item, at: path(section, new)))
        case (nil, nil): break
        }
        if let limit = spec.limit, section.items.count > limit {
            section.items.removeLast()
            enqueue(.remove(at: path(section, limit)))
        }
    }

    private func path(_ section: Section, _ row: Int) -> GroupPath { GroupPath(section: section.index, row: row) }

    private func touch(_ section: Section) {
        guard !section.isDirty else { return }
        section.isDirty = true
        dirty.append(section)
    }

    /// Removes a row from its group.
    ///
    /// - Returns: Its index among the visible rows; nil if it wasn't visible.
    private func take(_ sort: [UInt8], from section: Section) throws -> Int? {
        let row = section.sorts.partitioningIndex { !RowSorting.isBefore($0, sort) }
        guard row < section.sorts.count, section.sorts[row] == sort else { throw StaleNode() }
        section.sorts.remove(at: row)
        section.count -= 1
        total -= 1
        touch(section)
        guard row < section.items.count else { return nil }
        section.items.remove(at: row)
        return row
    }

    /// Inserts a row into a group.
    ///
    /// - Returns: Its index among the visible rows; nil if it isn't visible.
    private func put(_ item: Item, at sort: [UInt8], into section: Section) -> Int? {
        let row = section.sorts.partitioningIndex { !RowSorting.isBefore($0, sort) }
        section.sorts.insert(sort, at: row)
        section.count += 1
        total += 1
        touch(section)
        guard row <= section.items.count, row < spec.limit ?? .max else { return nil }
        section.items.insert(item, at: row)
        return row
    }
}

// MARK: The order of groups

extension GroupNode {
    private func isBefore(_ left: Section, _ right: Section) -> Bool {
        isBeforeByRows(left, right) ?? (left.serial < right.serial)
    }

    /// Whether a group comes before another one by their counts and keys; nil if these leave it open.
    private func isBeforeByRows(_ left: Section, _ right: Section) -> Bool? {
        let keys: GroupOrder<Key>.Comparison?
        switch spec.order.kind {
        case .keys(let comparison): keys = comparison
        case .counts(let ascending, let comparison):
            if left.count != right.count { return (left.count < right.count) == ascending }
            keys = comparison
        }
        guard let keys else { return nil }
        if keys(left.key, right.key) { return true }
        return keys(right.key, left.key) ? false : nil
    }

    /// Not if groups that are gone may still be shown, nor if groups are in the order in which they came.
    package var isDeterminedByRows: Bool {
        !spec.keepsEmptyGroups && zip(sections, sections.dropFirst()).allSatisfy { isBeforeByRows($0, $1) != nil }
    }

    private func number(from first: Int) {
        for index in first..<sections.count { sections[index].index = index }
    }

    /// Returns the group of a key, and inserts it in order if it is new.
    private func arrive(_ key: Key) -> Section {
        if let known = byKey[key] { return known }
        let section = Section(key, serial: nextSerial)
        nextSerial += 1
        byKey[key] = section
        let index: Int
        switch spec.order.kind {
        case .keys:
            index = sections.partitioningIndex { !isBefore($0, section) }
        case .counts:
            // Other groups may have to be reordered too, so this one is moved together with them.
            index = sections.count
        }
        sections.insert(section, at: index)
        number(from: index)
        enqueue(.insertSection(GroupSection(key: key, items: [], count: 0), at: index))
        return section
    }

    /// Moves groups whose counts have changed into order. The others are in order already.
    private func reorder() {
        let settled = sections.filter { !$0.isDirty }
        var before: [Section] = []
        var rest = settled[...]
        for section in dirty.sorted(by: isBefore) {
            while let next = rest.first, isBefore(next, section) {
                before.append(next)
                rest.removeFirst()
            }
            let from = section.index
            sections.remove(at: from)
            // The group before it has its final index; groups between them that don't are moved later.
            let to = before.last.map { $0.index - ($0.index > from ? 1 : 0) + 1 } ?? 0
            sections.insert(section, at: to)
            number(from: min(from, to))
            if from != to { enqueue(.moveSection(from: from, to: to)) }
            before.append(section)
        }
    }
}

// MARK: Publishing

extension GroupNode {
    private func enqueue(_ change: GroupChange<Key, Item>) { pending.append(change) }

    package func takeUpdate(at position: Int64) -> GroupUpdate<Key, Item>? { pending.take(at: position).map(counted) }

    package func invalidate() {
        isLive = false
        pending.removeAll()
    }

    package var header: GroupUpdate<Key, Item> { counted(pending.header) }

    private func counted(_ update: GroupUpdate<Key, Item>) -> GroupUpdate<Key, Item> {
        var update = update
        update.total = total
        return update
    }

    package var whole: [GroupSection<Key, Item>] {
        sections.map { GroupSection(key: $0.key, items: $0.items, count: $0.count) }
    }

    package var rowCount: Int { total }
}
