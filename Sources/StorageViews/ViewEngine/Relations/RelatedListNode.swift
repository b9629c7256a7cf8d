internal import StorageCore
package import StorageEntities
package import StorageRouting

/// A list of rows with conditions on related rows, or with related rows in them, kept up to date change by change.
///
/// It shows what a ``ListNode`` shows; a row whose included rows have changed is updated. Beside the rows that are shown
/// it keeps nothing but the included ones of those: where a row comes into the window, its related rows are read along the
/// foreign key's index.
package final class RelatedListNode<Item: Sendable>: WindowNode {
    private let list: IncludedList<Item>
    private let levels: [any IncludedLevel<Item>]
    /// Nil where there are no conditions on related rows, or where they can only be evaluated by reading everything.
    private let membership: RelatedMembership<Item>?
    private let own: [Interest]
    private var pending = PendingSteps<ListUpdate<OwnerRow<Item>>>()
    package var pendingUpdate: PendingUpdate<ListUpdate<Item>>?

    /// - Parameters:
    ///   - spec: The rows, whose conditions on related rows are met here.
    ///   - levels: What is added to the rows.
    ///   - columns: What each level finds its rows by.
    /// - Throws: `invalid-name` for a column that isn't there.
    init(_ spec: ListSpec<Item>, _ levels: [any IncludedLevel<Item>], by columns: [String]) throws {
        let relations = spec.request.relations
        list = IncludedList(spec.reading(try spec.form.reading(columns + relations.map(\.relation.column))))
        self.levels = levels
        membership = relations.isEmpty ? nil : RelatedMembership(relations, firstValue: columns.count)
        let interest = Interest(entity: spec.form.table.name, predicate: spec.request.predicate)
        own = membership.map { [interest] + $0.interests } ?? interest.with(relations)
    }

    package var interests: [Interest] { own + levels.flatMap(\.interests) }
    package var appliesRelatedChanges: Bool { true }

    package func takeChangedInterests() -> [Int] {
        (levels as [any RelatedLevel]).takeChangedInterests().map { own.count + $0 }
    }

    package func bind(to layouts: [RowLayout]) throws {
        try list.node.bind(to: layouts)
        try membership?.bind(to: layouts[0], related: layouts[1..<own.count])
        try (levels as [any RelatedLevel]).bind(to: layouts[own.count...])
    }

    package func reload(_ snapshot: Snapshot) throws {
        membership?.removeAll()
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
        switch change.interest {
        case 0:
            if let membership { return membership.apply(change) }
            try list.node.apply(change, in: snapshot)
        case ..<own.count:
            guard let membership else { throw StaleNode() }
            try membership.apply(change, to: change.interest - 1)
        default: try (levels as [any RelatedLevel]).apply(change, by: change.interest - own.count, in: snapshot)
        }
    }

    package func finishStep(_ snapshot: Snapshot) throws {
        try membership?.finishStep(list.node, snapshot)
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
    /// - Throws: `invalid-name` for a column that isn't there.
    package convenience init(_ spec: ListSpec<Item>, including inclusions: [any Inclusion<Item>]) throws {
        try self.init(
            spec, inclusions.map { try $0.makeLevel(in: \.self) }, by: inclusions.map(\.relation.column))
    }
}
