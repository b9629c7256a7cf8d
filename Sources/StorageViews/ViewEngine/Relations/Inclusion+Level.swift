internal import StorageCore
internal import StorageEntities

extension Inclusion {
    /// The included rows of a list's items, live.
    ///
    /// - Parameter path: The path from an item to the entity.
    func makeLevel<Item: Sendable>(in path: any WritableKeyPath<Item, Owner> & Sendable) throws -> any IncludedLevel<
        Item
    > {
        let below: [any IncludedLevel<Related>] = try request.inclusions.map { try $0.makeLevel(in: \.self) }
        let form = try RowForm(Related.self).reading(request.inclusions.map(\.relation.column))
        // Refused at once, also while there are no owners.
        _ = try QuerySQL(request.rows, of: form.table)
        return KeyedLevel<Item, IncludedContent<Related>>(
            relation, interest: Interest(entity: form.table.name, predicate: request.rows.predicate),
            membership: RelatedMembership(of: request.rows, in: form.table), below: below
        ) { value, layout in
            let rows = rows(of: value)
            let content = IncludedContent(
                ListSpec(form, rows, margin: rows.limit == nil ? nil : IncludedContent<Related>.margin), below)
            try content.list.node.bind(to: [layout])
            return content
        } put: { content, item in
            put(content?.items ?? [], into: &item[keyPath: path])
        }
    }
}

/// The included rows for one value, in their order, with the rows that they include themselves.
private final class IncludedContent<Item: Sendable>: RelatedContent {
    /// How many rows are kept ready behind those of a limit.
    static var margin: Int { 4 }

    let list: IncludedList<Item>
    private let levels: [any IncludedLevel<Item>]

    init(_ spec: ListSpec<OwnerRow<Item>>, _ levels: [any IncludedLevel<Item>]) {
        list = IncludedList(spec)
        self.levels = levels
    }

    var items: [Item] { list.shown.map { IncludedList.filled($0, levels) } }

    func reload(_ snapshot: Snapshot) throws { _ = try list.reload(levels, snapshot) }
    func apply(_ change: ChangedRow, in snapshot: Snapshot) throws { try list.node.apply(change, in: snapshot) }
    func finishStep(_ snapshot: Snapshot) throws -> Bool { try list.settle(levels, snapshot) != nil }
    func release() { list.release(levels) }
    var rowCount: Int { list.shown.count }

    var number: Int32 {
        get { list.number }
        set { list.number = newValue }
    }
}
