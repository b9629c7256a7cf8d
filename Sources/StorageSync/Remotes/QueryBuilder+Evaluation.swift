extension QueryBuilder {
    /// Filters and sorts documents.
    ///
    /// The rules are Firestore's, applied to the documents' JSON:
    ///
    /// - Fields are compared with values of the same kind only: numbers with numbers, by value; texts with texts, by
    ///   their UTF-8 bytes; booleans, false first; arrays; objects.
    /// - A missing field meets no condition. A null field meets only `isEqualTo` null, and `in` a list with null.
    ///   Nothing meets `notIn` a list with null. Synthesized `Codable` conformances omit nil values, so such a field is
    ///   missing.
    /// - `isNotEqualTo` and `notIn` are met by values of other kinds as well.
    /// - Without an order, documents are sorted by their ids. Conditions that aren't equalities (such as `isLessThan`,
    ///   `isNotEqualTo`, `notIn`) sort by their fields before that, after the query's orders.
    /// - Documents without a field that is sorted by don't match. Among different kinds, null comes first, then
    ///   booleans, numbers, texts, arrays, objects.
    /// - Ties in the order are broken by the UTF-8 bytes of the ids, in the direction of the last order.
    /// - A document that can't be encoded as JSON, such as one with an infinity, doesn't match.
    /// - A dot in a field's name leads into a nested object, so keys that contain a dot can't be queried.
    ///
    /// - Throws: `StorageError` with the code `invalid-argument` for a limit below 1, a limit to the last documents
    ///   without an order, a cursor without values or with more values than there are orders, and a condition without a
    ///   required array; with `invalidValue` for a value that can't be encoded as JSON.
    /// - Complexity: O(*n* log *n*) in the number of documents, each of which is encoded as JSON once.
    package func apply<T: DataSyncModelProtocol>(to documents: [T]) throws -> [T] {
        try QueryEvaluation(self).select(from: documents)
    }
}
