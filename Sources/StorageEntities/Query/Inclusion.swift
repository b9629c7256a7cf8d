package import StorageCore

/// Related rows that a query reads along with its own, to be put into a property of each.
package protocol Inclusion<Owner>: Sendable {
    /// The entity that is queried.
    associatedtype Owner: RegisteredEntity
    /// The entity whose rows are included.
    associatedtype Related: RegisteredEntity

    var relation: Relation { get }
    /// Which of the related rows, in what order, and what they include themselves. A limit is that of each owner.
    var request: QueryRequest<Related> { get }
    func put(_ rows: [Related], into owner: inout Owner)
    /// The same inclusion, restricted to the rows of a scope.
    func scoped(by scope: StorageScope) -> any Inclusion<Owner>
}

extension Inclusion {
    /// The related rows of an owner, by the value of its column.
    package func rows(of value: StorageValue) -> RowRequest { relation.rows(of: value, request.rows) }

    /// The tables that are read.
    package var tables: [String] { request.tables }
}

/// Included rows that a closure puts into their owner.
package struct IncludedRows<Owner: RegisteredEntity, Related: RegisteredEntity>: Inclusion {
    package let relation: Relation
    package let request: QueryRequest<Related>
    private let place: @Sendable ([Related], inout Owner) -> Void

    package init(
        _ relation: Relation, _ request: QueryRequest<Related>,
        place: @escaping @Sendable ([Related], inout Owner) -> Void
    ) {
        self.relation = relation
        self.request = request
        self.place = place
    }

    package func put(_ rows: [Related], into owner: inout Owner) { place(rows, &owner) }

    package func scoped(by scope: StorageScope) -> any Inclusion<Owner> {
        IncludedRows(relation, scope.apply(to: request), place: place)
    }
}
