/// A column by whose values rows of a table are looked up.
package struct ColumnLookup: Sendable, Hashable {
    package let table: QueryTable
    package let column: String

    package init(_ table: QueryTable, by column: String) { (self.table, self.column) = (table, column) }
}

extension Relation {
    /// How related rows are found.
    package var lookup: ColumnLookup { ColumnLookup(table, by: otherColumn) }
}

extension RelatedCondition {
    /// How the rows that it asks for are found.
    var lookups: [ColumnLookup] { [relation.lookup] + relations.flatMap(\.lookups) }
}

extension QueryRequest {
    /// The look-ups of related rows, of conditions and of inclusions.
    package var lookups: [ColumnLookup] {
        rows.relations.flatMap(\.lookups) + inclusions.flatMap { Self.lookups(of: $0) }
    }

    private static func lookups(of inclusion: some Inclusion) -> [ColumnLookup] {
        [inclusion.relation.lookup] + inclusion.request.lookups
    }
}
