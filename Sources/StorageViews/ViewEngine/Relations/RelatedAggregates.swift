internal import StorageCore
package import StorageEntities
internal import StorageRouting

/// Counts, sums and other aggregates of an entity's related rows.
package struct RelatedAggregates: Sendable {
    package let relation: Relation
    /// Which of the related rows.
    let request: RowRequest
    let terms: [AggregateTerm]

    package init<Child: RegisteredEntity>(
        _ relation: Relation, _ request: QueryRequest<Child>, terms: [AggregateTerm]
    ) {
        self.relation = relation
        self.request = request.withoutInclusions
        self.terms = terms
    }

    /// The related rows of an owner.
    private func spec(_ value: StorageValue) -> AggregateSpec {
        AggregateSpec(relation.table, relation.rows(of: value, request), terms: terms)
    }

    /// The statement that computes them for an owner; its first argument is the value of the owner's column.
    package func sql() throws -> QuerySQL.Text {
        try QuerySQL(spec(.null).request, of: relation.table).aggregate(
            terms.map { try $0.sql(relation.table) }.joined(separator: ", "))
    }

    package var count: Int { terms.count }

    /// The live aggregates of a list's items.
    ///
    /// - Parameter path: The property that receives them.
    func makeLevel<Item: Sendable>(
        in path: any WritableKeyPath<Item, [StorageValue]?> & Sendable
    ) -> any IncludedLevel<Item> {
        let columns = [relation.otherColumn] + terms.compactMap(\.column) + request.relations.map(\.relation.column)
        return KeyedLevel<Item, AggregatedContent>(
            relation,
            interest: Interest(entity: relation.table.name, predicate: request.predicate, columns: columns),
            for: .aggregate,
            membership: RelatedMembership(of: request, in: relation.table)
        ) { value, layout in
            let content = AggregatedContent(spec(value))
            try content.node.bind(to: [layout])
            return content
        } put: { content, item in
            item[keyPath: path] = content?.values
        }
    }
}

/// The aggregates of the rows that are related to one value.
private final class AggregatedContent: RelatedContent {
    let node: AggregateNode
    private(set) var values: [StorageValue]?

    init(_ spec: AggregateSpec) { node = AggregateNode(spec) }

    func reload(_ snapshot: Snapshot) throws {
        try node.reload(snapshot)
        _ = try take(snapshot)
    }

    func apply(_ change: ChangedRow, in snapshot: Snapshot) throws { try node.apply(change, in: snapshot) }

    func finishStep(_ snapshot: Snapshot) throws -> Bool {
        try node.finishStep(snapshot)
        return try take(snapshot)
    }

    private func take(_ snapshot: Snapshot) throws -> Bool {
        guard try node.takeUpdate(at: snapshot.position) != nil else { return false }
        let new = node.whole.first?.values
        defer { values = new }
        return new != values
    }

    var number: Int32 = 0
    func release() {}
    var rowCount: Int { 1 }
}
