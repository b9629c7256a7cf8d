internal import StorageCore
package import StorageEntities
package import StorageRouting

/// A list of rows with conditions on related rows, or with related rows included, kept up to date change by change.
///
/// It shows what a ``ListNode`` shows; a row whose included rows have changed is updated. Besides the visible rows it
/// keeps only their included ones: when a row enters the window, its related rows are read by the foreign key's index.
package final class RelatedListNode<Item: Sendable>: WindowNode {
    private let list: IncludedList<Item>
    private let levels: [any IncludedLevel<Item>]
    package let membership: RelatedMembership?
    private let interest: Interest
    private var pending = PendingSteps<ListUpdate<OwnerRow<Item>>>()
    package var pendingUpdate: PendingUpdate<ListUpdate<Item>>?

    /// - Parameters:
    ///   - spec: The rows.
    ///   - levels: What is added to the rows.
    ///   - columns: For each level, the column that its rows are found by.
    /// - Throws: `invalid-name` for an unknown column.
    init(_ spec: ListSpec<Item>, _ levels: [any IncludedLevel<Item>], by columns: [String]) throws {
        list = IncludedList(spec.reading(try spec.form.reading(columns)))
        self.levels = levels
        membership = RelatedMembership(of: spec.request, in: spec.form.table)
        interest = Interest(entity: spec.form.table.name, predicate: spec.request.predicate)
    }

    package var ownInterests: [Interest] { [interest] + levels.flatMap(\.interests) }

    package func takeOwnValues(all: Bool) -> [HeldValues] {
        (levels as [any RelatedLevel]).takeValues(all: all).map { $0.behind(1) }
    }

    package func bind(to layouts: [RowLayout]) throws {
        try list.node.bind(to: layouts)
        try (levels as [any RelatedLevel]).bind(to: layouts[1...])
    }

    package func reload(_ snapshot: Snapshot) throws {
        for level in levels { level.removeAll() }
        pending.removeAll()
        if let update = try list.reload(levels, snapshot) { pending.append(update) }
    }

    /// Shows another part of the rows.
    package func move(offset: Int, limit: Int?, _ snapshot: Snapshot) throws {
        try list.node.move(offset: offset, limit: limit, snapshot)
    }

    // MARK: Changes

    package func apply(_ change: ChangedRow, in snapshot: Snapshot) throws {
        guard change.interest > 0 else { return try list.node.apply(change, in: snapshot) }
        try (levels as [any RelatedLevel]).apply(change, by: change.interest - 1, in: snapshot)
    }

    package func finishStep(_ snapshot: Snapshot) throws {
        // Before rows come into the list: theirs are read as they are after the step.
        for level in levels { try level.applyConditions(snapshot) }
        let update = try list.settle(levels, snapshot)
        for level in levels { try level.finishStep(snapshot) }
        if let update { pending.append(update) }
        let changed = list.changedIndices(levels)
        for index in changed { pending.append(.update(list.shown[index], at: index)) }
    }

    // MARK: Publishing

    package func takeUpdate(at position: Int64) -> ListUpdate<Item>? {
        pending.take(at: position).map(filled)
    }

    private func filled(_ update: ListUpdate<OwnerRow<Item>>) -> ListUpdate<Item> {
        var filled = update.map { IncludedList.filled($0, levels) }
        let header = list.node.header
        (filled.total, filled.offset) = (header.total, header.offset)
        return filled
    }

    package func invalidate() {
        list.node.invalidate()
        pending.removeAll()
    }

    package var header: ListUpdate<Item> { filled(pending.header) }
    package var whole: [Item] { list.shown.map { IncludedList.filled($0, levels) } }
    package var rowCount: Int { list.shown.count + (levels as [any RelatedLevel]).rowCount }
}

extension RelatedListNode where Item: RegisteredEntity {
    /// A list of entities with the rows that they include.
    ///
    /// - Throws: `invalid-name` for an unknown column.
    package convenience init(_ spec: ListSpec<Item>, including inclusions: [any Inclusion<Item>]) throws {
        try self.init(
            spec, inclusions.map { try $0.makeLevel(in: \.self) }, by: inclusions.map(\.relation.column))
    }
}
