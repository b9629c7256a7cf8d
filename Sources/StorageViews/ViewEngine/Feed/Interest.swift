package import StorageCore
internal import StorageEntities
internal import StorageRouting

/// The rows of one entity that a node looks at, and what for.
package struct Interest: Sendable {
    /// The entity's name.
    let entity: String
    let predicate: RowPredicate
    /// The columns that it shows or sorts by; all of them if nil.
    let columns: [String]?
    /// Whether it asks the entity's full-text index.
    let searches: Bool
    /// Its full-text query, if a row alone decides whether it matches.
    let expression: SearchExpression?
    /// A column in which a row must have one of the values that the node holds: see ``LiveNode/takeOwnValues(all:)``.
    /// Nil if any row may matter.
    private(set) var valueColumn: String?
    private(set) var purpose = SubscriptionExplanation.Purpose.rows
    /// How its rows are related to others, in the form that explanations use.
    private(set) var relation: String?
    /// The columns by which rows are looked up when something changes.
    private(set) var lookups: [ColumnLookup] = []
    /// Why the node reads everything again after a change; nil if it applies the change.
    private(set) var rerunReason: String?
    /// Whether the node is given the changes; otherwise any of them makes it read everything again.
    private(set) var isApplied = true

    package init(
        entity: String, predicate: RowPredicate?, columns: [String]? = nil, searches: Bool = false,
        matching expression: SearchExpression? = nil, rerunReason: String? = nil
    ) {
        self.searches = searches
        self.expression = expression
        self.entity = entity
        self.predicate = predicate ?? .constant(true)
        self.columns = columns
        self.rerunReason = rerunReason
    }
}

extension Interest {
    /// The same interest for rows that are related to others.
    ///
    /// - Parameters:
    ///   - lookups: Columns by which rows are looked up, besides that of the relation.
    ///   - rerunReason: Why changes can't be applied; nil if they can.
    func related(
        by relation: Relation, for purpose: SubscriptionExplanation.Purpose, lookups: [ColumnLookup] = [],
        rerunReason: String? = nil
    ) -> Interest {
        var interest = self
        interest.purpose = purpose
        interest.relation = "\(relation.otherColumn) = \(relation.column)"
        interest.lookups = [relation.lookup] + lookups
        interest.rerunReason = rerunReason
        return interest
    }

    /// The rows of an entity that a condition in SQL reads.
    static func readBySQL(_ entity: String, searches: Bool) -> Interest {
        var interest = Interest(
            entity: entity, predicate: nil, searches: searches, rerunReason: "a condition in SQL reads it")
        (interest.purpose, interest.isApplied) = (.condition, false)
        return interest
    }

    /// The same interest for rows whose column has a value that the node holds.
    func holdingValues(of column: String) -> Interest {
        var interest = self
        interest.valueColumn = column
        return interest
    }
}

// MARK: Explaining

extension Interest {
    /// The router's explanation, completed by the interest.
    func explained(_ table: SubscriptionExplanation.Table) -> SubscriptionExplanation.Table {
        var table = table
        (table.purpose, table.relation) = (purpose, relation)
        table.rerunReason = rerunReason ?? table.rerunReason
        return table
    }
}
