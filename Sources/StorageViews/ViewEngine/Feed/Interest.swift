package import StorageCore
internal import StorageEntities

/// The rows of one entity that a node looks at.
package struct Interest: Sendable {
    /// The entity's name.
    let entity: String
    let predicate: RowPredicate
    /// The columns that it shows or sorts by; all of them where nil.
    let columns: [String]?
    /// Whether it asks the entity's full-text index.
    let searches: Bool
    /// What it asks of the texts in that index, where that is known from the row alone.
    let expression: SearchExpression?
    /// A column of which a row must have one of the values that the node holds: see ``LiveNode/takeOwnValues(all:)``. Nil where it
    /// looks at any row.
    private(set) var valueColumn: String?

    package init(
        entity: String, predicate: RowPredicate?, columns: [String]? = nil, searches: Bool = false,
        matching expression: SearchExpression? = nil
    ) {
        self.searches = searches
        self.expression = expression
        self.entity = entity
        self.predicate = predicate ?? .constant(true)
        self.columns = columns
    }
}

extension Interest {
    /// The same in rows of which the column has a value that the node holds.
    func holdingValues(of column: String) -> Interest {
        var interest = self
        interest.valueColumn = column
        return interest
    }
}

/// The values of an interest's ``Interest/valueColumn`` that a node has come to hold, and those that it holds no longer.
package struct HeldValues {
    /// The interest's number among those of the node, or of a part of it.
    var interest: Int
    var added: [StorageValue] = []
    var removed: [StorageValue] = []

    /// The same where other interests come first.
    func behind(_ interests: Int) -> HeldValues {
        HeldValues(interest: interests + interest, added: added, removed: removed)
    }
}
