public import StorageCore

extension ReadTransaction {
    /// Returns the entities whose indexed columns match a text, best first: see ``Storage/search(_:query:limit:offset:syntax:weights:excerpt:)``.
    ///
    /// - Throws: ``StorageError`` with `not-found` if there is no index, `invalid-query` for invalid text in the FTS5 syntax.
    public func search<E: RegisteredEntity>(
        _ type: E.Type, query: String, limit: Int = 50, offset: Int = 0, syntax: SearchSyntax = .simple,
        weights: [String: Double] = [:], excerpt: SearchExcerpt? = nil
    ) throws -> [SearchResult<E>] {
        try Search<E>(
            indexes: searchIndexes, query: query, limit: limit, offset: offset, syntax: syntax, weights: weights,
            excerpt: excerpt
        ).run(database)
    }

    /// Returns the number of entities that match a text.
    ///
    /// - Throws: ``StorageError`` as ``search(_:query:limit:offset:syntax:weights:excerpt:)`` does.
    public func searchCount<E: RegisteredEntity>(
        _ type: E.Type, query: String, syntax: SearchSyntax = .simple
    ) throws -> Int {
        try Search<E>(
            indexes: searchIndexes, query: query, limit: 0, offset: 0, syntax: syntax, weights: [:], excerpt: nil
        ).count(database)
    }
}
