extension QueryBuilder {
    /// The documents that the query finds among some, in its order.
    ///
    /// The rules are Firestore's, for documents as their JSON:
    ///
    /// - Fields are compared with values of the same kind only: numbers with numbers, by what they are worth; texts with texts,
    ///   by their UTF-8 bytes; booleans, false first; arrays; objects.
    /// - A field that is missing meets no condition. One that is null meets only `isEqualTo` null, and `in` a list with null.
    ///   Nothing meets `notIn` a list with null. Synthesised `Codable` conformances leave out what is nil, so such a field is
    ///   missing.
    /// - `isNotEqualTo` and `notIn` are met by values of other kinds as well.
    /// - Without an order, documents are sorted by their ids. Conditions that aren't equalities (`isLessThan` and its like,
    ///   `isNotEqualTo`, `notIn`) sort by their fields before that, behind the orders that the query has.
    /// - Documents without a field that is sorted by aren't found. Of different kinds, null comes first, then booleans,
    ///   numbers, texts, arrays, objects.
    /// - Documents with the same place in the order are sorted by their ids' UTF-8 bytes, in the direction of the last order.
    /// - A dot in a field's name leads into a nested object, so keys with a dot in them can't be asked for.
    ///
    /// - Throws: `StorageError` with the code `invalid-argument` for a limit below 1, a limit to the last documents without an order, a
    ///   cursor without values or with more than there are orders, and a condition without the array that it takes; with
    ///   `invalidValue` for a document or value that can't be written as JSON.
    /// - Complexity: O(*n* log *n*) in the documents, each of which is written as JSON once.
    package func apply<T: DataSyncModelProtocol>(to documents: [T]) throws -> [T] {
        let evaluation = try QueryEvaluation(self)
        return evaluation.select(
            from: try documents.map { (document: $0, id: $0.id, json: try JSONValue(encoding: $0)) })
    }
}
