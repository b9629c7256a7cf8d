package import StorageCore
package import StorageEntities

// The kinds of live queries, one for each kind of view of the same query.

extension LiveQuery {
    /// The rows, in the query's order.
    package static func list<Entity: RegisteredEntity>(
        _ engine: SubscriptionEngine, _ request: QueryRequest<Entity>
    ) -> LiveQuery where Value == [Entity], Difference == ListDifference<Entity> {
        let spec = ListSpec(RowForm(Entity.self), request.rows)
        guard !request.inclusions.isEmpty else { return LiveQuery(engine, { ListNode(spec) }, { $0 }) }
        return LiveQuery(engine, { try RelatedListNode(spec, including: request.inclusions) }, { $0 })
    }

    /// The rows that a program chooses and sorts.
    package static func evaluated<Row: Sendable, Item: Sendable & Equatable, SortKey: Sendable>(
        _ engine: SubscriptionEngine, _ spec: EvaluatedListSpec<Row, Item, SortKey>
    ) -> LiveQuery where Value == [Item], Difference == ListDifference<Item> {
        LiveQuery(engine, { EvaluatedListNode(spec) }, { $0 })
    }

    /// The first row; nil while there is none.
    package static func first<Entity: RegisteredEntity>(
        _ engine: SubscriptionEngine, _ request: QueryRequest<Entity>
    ) -> LiveQuery where Value == Entity?, Difference == ValueDifference<Entity?> {
        var rows = request.rows
        rows.limit = min(rows.limit ?? 1, 1)
        let spec = ListSpec(RowForm(Entity.self), rows)
        guard !request.inclusions.isEmpty else { return LiveQuery(engine, { ListNode(spec) }, value: { $0.first }) }
        return LiveQuery(
            engine, { try RelatedListNode(spec, including: request.inclusions) }, value: { $0.first })
    }

    /// The rows in groups.
    package static func groups<Entity: RegisteredEntity, Key: Hashable & Sendable>(
        _ engine: SubscriptionEngine, _ request: QueryRequest<Entity>,
        _ configuration: GroupedQuerySubscription<Entity, Key>.Configuration, key: @escaping @Sendable (Entity) -> Key
    ) -> LiveQuery
    where Value == [GroupSection<Key, Entity>], Difference == GroupDifference<Key, Entity> {
        let spec = configuration.spec(request, key: key)
        return LiveQuery(engine, { GroupNode(spec) }, { $0 })
    }

    /// Aggregates of all rows.
    package static func aggregates<Entity: RegisteredEntity>(
        _ engine: SubscriptionEngine, _ request: QueryRequest<Entity>, reading: AggregateReading<Value>
    ) -> LiveQuery where Difference == ValueDifference<Value> {
        let spec = AggregateSpec(RowForm(Entity.self).table, request.rows, terms: reading.terms)
        return LiveQuery(engine, { AggregateNode(spec) }) { rows in
            try rows.first.map { try reading.decode($0.values) } ?? reading.empty
        }
    }

    /// Aggregates of the rows with each value of a column.
    package static func aggregates<Entity: RegisteredEntity, Key: Hashable & Sendable, Total: Sendable>(
        _ engine: SubscriptionEngine, _ request: QueryRequest<Entity>, reading: AggregateReading<Total>,
        groupedBy column: StorageColumn<Key>
    ) -> LiveQuery
    where Value == [AggregateGroup<Key, Total>], Difference == ListDifference<AggregateGroup<Key, Total>> {
        let spec = AggregateSpec(
            RowForm(Entity.self).table, request.rows, groups: [column.name], terms: reading.terms)
        return LiveQuery(engine, { AggregateNode(spec) }) { update in
            try update.map { try AggregateGroup($0, reading) }
        }
    }

    /// The results of a search for a text.
    package static func search<Entity: RegisteredEntity>(
        _ engine: SubscriptionEngine, _ request: QueryRequest<Entity>, _ text: String, indexes: SearchIndexes,
        configuration: SearchSubscription<Entity>.Configuration
    ) -> LiveQuery where Value == [SearchResult<Entity>], Difference == ListDifference<SearchResult<Entity>> {
        guard configuration.searchFields.isEmpty else {
            return LiveQuery(engine, { try configuration.fieldNode(text, in: request.withoutInclusions) }, { $0 })
        }
        return LiveQuery(
            engine, { try configuration.fullTextNode(text, in: request.withoutInclusions, indexes: indexes) }, { $0 })
    }
}
