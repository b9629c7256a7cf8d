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
    /// Those of its rows that meet a condition too.
    func narrowed(to condition: RowPredicate) -> Interest {
        Interest(
            entity: entity, predicate: condition && predicate, columns: columns, searches: searches,
            matching: expression)
    }
}
