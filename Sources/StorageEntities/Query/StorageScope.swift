package import StorageCore

/// The rows that may be read: a condition for each entity, which is added to the queries of the scope.
///
/// Isolation: `Sendable`; it is immutable.
package final class StorageScope: Sendable {
    /// The conditions by the entities' names; nil where all rows may be read.
    private let conditions: [String: RowPredicate?]

    package init(_ conditions: [String: RowPredicate?]) { self.conditions = conditions }

    /// A query of the scope.
    package func request<E: RegisteredEntity>(_ type: E.Type = E.self) -> QueryRequest<E> { apply(to: QueryRequest()) }

    /// A query that finds nothing outside of the scope.
    package func apply<E: RegisteredEntity>(to request: QueryRequest<E>) -> QueryRequest<E> {
        guard request.scope !== self else { return request }
        var scoped = request.mapInclusions { inclusion in inclusion.scoped(by: self) }
        scoped.scope = self
        do throws(StorageError) {
            let rows = request.rows
            try Self.check(rows.predicate)
            scoped.rows.predicate = try predicate(rows.predicate, of: EntityTableCache.of(E.Record.self).name)
            scoped.rows.relations = []
            for relation in rows.relations { scoped.rows.relations.append(try apply(to: relation)) }
        } catch {
            scoped.rows.invalid = scoped.rows.invalid ?? error
        }
        return scoped
    }

    package func apply(to condition: RelatedCondition) throws(StorageError) -> RelatedCondition {
        try Self.check(condition.predicate)
        var relations: [RelatedCondition] = []
        for relation in condition.relations { relations.append(try apply(to: relation)) }
        return RelatedCondition(
            relation: condition.relation,
            predicate: try predicate(condition.predicate, of: condition.relation.table.name), relations: relations,
            isNegated: condition.isNegated)
    }

    /// The names of the entities that may be read.
    package var entities: Set<String> { Set(conditions.keys) }

    /// The condition that an entity's rows have to meet; nil if all may be read.
    ///
    /// - Throws: `not-found` for an entity outside the scope.
    package func condition(of entity: String) throws(StorageError) -> RowPredicate? { try predicate(nil, of: entity) }

    private func predicate(_ own: RowPredicate?, of entity: String) throws(StorageError) -> RowPredicate? {
        guard let condition = conditions[entity] else {
            throw StorageError(
                .notFound, "The scope doesn't know \"\(entity)\".",
                remedy: "Allow it where the scope is made: `allow(_:where:)`.")
        }
        guard let condition else { return own }
        return own.map { condition && $0 } ?? condition
    }

    /// - Throws: `invalid-argument` for SQL of the caller's own: it could ask for anything.
    package static func check(_ predicate: RowPredicate?) throws(StorageError) {
        guard predicate?.isEvaluable == false else { return }
        throw StorageError(
            .invalidArgument,
            "A query of a scope can't have a condition in SQL of your own: it could read outside of it.",
            remedy: "Write it with columns, or put it into the scope's own condition.")
    }
}
