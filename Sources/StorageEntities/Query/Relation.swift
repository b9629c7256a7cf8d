package import StorageCore
internal import StorageLog

/// How rows of two entities are related: by equal values in a column of each.
package struct Relation: Sendable, Hashable {
    /// The other entity's table.
    package let table: QueryTable
    /// The column of the entity that is queried.
    package let column: String
    /// The other entity's column.
    package let otherColumn: String

    /// The rows whose column holds the key of an entity.
    package static func children<Parent: RegisteredEntity, Child: RegisteredEntity>(
        of parent: Parent.Type, _ child: Child.Type, by foreignKey: String
    ) -> Relation {
        Relation(
            table: EntityTableCache.of(Child.Record.self).queryTable,
            column: EntityTableCache.of(Parent.Record.self).keyColumn, otherColumn: foreignKey)
    }

    /// The row whose key an entity's column holds.
    package static func parent<Child: RegisteredEntity, Parent: RegisteredEntity>(
        of child: Child.Type, _ parent: Parent.Type, through foreignKey: String
    ) -> Relation {
        let table = EntityTableCache.of(Parent.Record.self)
        return Relation(table: table.queryTable, column: foreignKey, otherColumn: table.keyColumn)
    }

    /// The rows of a request that are related to a value, which is the first of its statement.
    package func rows(of value: StorageValue, _ request: RowRequest) -> RowRequest {
        var rows = request
        let isRelated = RowPredicate.comparison(column: otherColumn, .equal, .value(value))
        rows.predicate = rows.predicate.map { isRelated && $0 } ?? isRelated
        return rows
    }

    /// The column that a marked property goes by; `invalid-argument` where it isn't marked.
    package static func foreignKey<Entity: RegisteredEntity>(
        of property: PartialKeyPath<Entity>
    ) -> Result<String, StorageError> {
        if let column = Entity.Record.foreignKey(of: property) { return .success(column) }
        return .failure(
            StorageError(
                .invalidArgument, "The property of \(Entity.self) isn't marked as a relationship.",
                remedy: """
                    Mark it with @StorageHasMany(foreignKey:) or @StorageBelongsTo, or name the column: \
                    loadChildren(_:where:equals:), include(_:by:), has(_:by:).
                    """))
    }
}

/// A condition on a row's related rows: that at least one exists, or that none does.
package struct RelatedCondition: Sendable, Hashable {
    package let relation: Relation
    /// The condition that the related rows must meet; nil for none.
    package let predicate: RowPredicate?
    /// Conditions on rows that the related rows are related to.
    package let relations: [RelatedCondition]
    /// Whether there must be none.
    package let isNegated: Bool

    /// Conditions in SQL.
    ///
    /// - Parameters:
    ///   - owner: The table, or its alias, whose rows are tested.
    ///   - depth: The nesting depth of the condition: each level has its own alias, so that an entity can refer to
    ///     itself.
    func sql(of owner: QueryTable, as ownerName: String, depth: Int = 0) throws -> QuerySQL.Text {
        let alias = "storage_related_\(depth)"
        let (table, other) = (relation.table, try relation.table.column(named: relation.otherColumn))
        var text = QuerySQL.Text(
            sql: """
                \(isNegated ? "NOT " : "")EXISTS (SELECT 1 FROM \(quoted(table.stored)) AS \(alias) \
                WHERE \(alias).\(other) = \(ownerName).\(try owner.column(named: relation.column))
                """)
        if let predicate {
            // With the alias: a name that the table has lost could be that of a column of the owner.
            let condition = try PredicateSQL(predicate) { "\(alias).\(try table.column(named: $0))" }
            text.sql += " AND (\(condition.text))"
            text.values += condition.values
        }
        for condition in relations {
            let nested = try condition.sql(of: table, as: alias, depth: depth + 1)
            text.sql += " AND \(nested.sql)"
            text.values += nested.values
        }
        text.sql += ")"
        return text
    }

    /// The tables that it looks at.
    package var tables: [String] { [relation.table.name] + relations.flatMap(\.tables) }
}
