internal import StorageCore
package import StorageEntities
internal import StorageLog

/// An entity with counts, sums, means or extremes of its related rows.
///
/// ```swift
/// let catalogue = storage.query(Author.self).live(aggregating: \.books, .count, .max(\.year))
/// for try await authors in catalogue.snapshots {
///     for author in authors { print(author.entity.name, author.value.0, author.value.1 ?? 0) }
/// }
/// ```
public struct AggregatedEntity<Entity: Sendable, Value: Sendable>: Sendable {
    /// The entity, with the rows that it includes.
    public var entity: Entity
    /// The value of the only aggregate, or a tuple of the values of all aggregates, in their order.
    public var value: Value

    package init(_ entity: Entity, _ value: Value) { (self.entity, self.value) = (entity, value) }
}

extension AggregatedEntity: Equatable where Entity: Equatable, Value: Equatable {}
extension AggregatedEntity: Composed where Entity: Equatable, Value: Equatable {
    var parts: [any Equatable] { [entity, value] }
}
extension AggregatedEntity: Identifiable where Entity: Identifiable {
    /// The entity's id.
    public var id: Entity.ID { entity.id }
}

/// An entity, and what its aggregates were computed from; nil if nothing is related to it.
private struct TotalledRow<Entity: RegisteredEntity>: Sendable {
    var entity: Entity
    var totals: [StorageValue]?
}

extension LiveQuery {
    /// The rows, in the query's order, with aggregates of related rows.
    package static func list<Entity: RegisteredEntity, Total: Sendable>(
        _ engine: SubscriptionEngine, _ request: QueryRequest<Entity>, with aggregates: RelatedAggregates,
        reading: AggregateReading<Total>
    ) -> LiveQuery
    where Value == [AggregatedEntity<Entity, Total>], Difference == ListDifference<AggregatedEntity<Entity, Total>> {
        let form = RowForm(Entity.self)
        let spec = ListSpec(
            RowForm<TotalledRow<Entity>>(table: form.table) { TotalledRow(entity: try form.read($0)) }, request.rows)
        return LiveQuery(
            engine,
            {
                try RelatedListNode(
                    spec,
                    request.inclusions.map { try $0.makeLevel(in: \TotalledRow<Entity>.entity) }
                        + [aggregates.makeLevel(in: \TotalledRow<Entity>.totals)],
                    by: request.inclusions.map(\.relation.column) + [aggregates.relation.column])
            },
            { update in
                try update.map { row in
                    AggregatedEntity(row.entity, try row.totals.map(reading.decode) ?? reading.empty)
                }
            })
    }
}
