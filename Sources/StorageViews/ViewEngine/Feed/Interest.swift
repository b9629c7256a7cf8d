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

    /// This interest and those in the rows that conditions look at, for a node that is reloaded where one of them changes.
    func with(_ relations: [RelatedCondition]) -> [Interest] {
        guard !relations.isEmpty else { return [self] }
        // What a change of the row itself does can't be said without the related ones.
        return [narrowed(to: .sql("1"))] + relations.flatMap(\.interests)
    }
}

extension RelatedCondition {
    /// Which rows it looks at, and those that they are related to.
    fileprivate var interests: [Interest] {
        let own = Interest(entity: relation.table.name, predicate: predicate, columns: [relation.otherColumn])
        return own.with(relations)
    }
}
