package import StorageCore

/// Which rows of one entity to read, and in what order.
package struct RowRequest: Sendable {
    package var predicate: RowPredicate?
    /// Conditions on related rows; all of them must be met beside the predicate.
    package var relations: [RelatedCondition] = []
    package var orderings: [RowOrdering] = []
    package var limit: Int?
    package var offset = 0
    /// Why there is no answer, found out when the request was put together.
    package var invalid: StorageError?

    package init(
        predicate: RowPredicate? = nil, relations: [RelatedCondition] = [], orderings: [RowOrdering] = [],
        limit: Int? = nil, offset: Int = 0
    ) {
        self.predicate = predicate
        self.relations = relations
        self.orderings = orderings
        self.limit = limit
        self.offset = offset
    }
}
