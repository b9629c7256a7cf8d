package import StorageCore

/// Which rows of one entity are asked for, and in what order.
package struct RowRequest: Sendable, Hashable {
    package var predicate: RowPredicate?
    package var orderings: [RowOrdering] = []
    package var limit: Int?
    package var offset = 0

    package init(
        predicate: RowPredicate? = nil, orderings: [RowOrdering] = [], limit: Int? = nil, offset: Int = 0
    ) {
        self.predicate = predicate
        self.orderings = orderings
        self.limit = limit
        self.offset = offset
    }
}
