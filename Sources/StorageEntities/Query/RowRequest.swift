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

extension RowRequest {
    /// More rows than a table can have: a file of SQLite's has less than 2⁴⁸ bytes.
    package static var unreachableCount: Int { 1 << 48 }

    /// A limit of rows that a table may have; nil for one that never applies. Sums of limits don't overflow then.
    package static func reachable(limit: Int?) -> Int? { limit.flatMap { $0 < unreachableCount ? $0 : nil } }

    /// The same request with a limit and an offset whose sums don't overflow.
    package var reachable: RowRequest {
        var request = self
        request.limit = Self.reachable(limit: limit)
        request.offset = min(offset, Self.unreachableCount)
        return request
    }
}
