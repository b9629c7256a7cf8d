internal import GRDB
public import StorageCore
public import StorageEntities

extension Storage {
    /// Returns the entities whose indexed columns match a text, best first. The entity needs a full-text index:
    /// ``Schema/addFullTextSearch(table:columns:tokenizer:prefixes:)``.
    ///
    /// ```swift
    /// for result in try await storage.search(Article.self, query: "swift concur*") {
    ///     print(result.entity.title, result.rank)
    /// }
    /// ```
    ///
    /// The search finds everything that was saved before the call.
    ///
    /// - Parameters:
    ///   - query: The text to search for. In the ``SearchSyntax/simple`` syntax, every text is valid.
    ///   - weights: The weights of columns, by name; 1 for a column that isn't named.
    ///   - excerpt: The excerpt with marked matches to return in each result's `snippet`; none if nil.
    /// - Throws: `not-found` if there is no index, `invalid-query` for invalid text in the FTS5 syntax.
    public func search<E: RegisteredEntity>(
        _ type: E.Type, query: String, limit: Int = 50, offset: Int = 0, syntax: SearchSyntax = .simple,
        weights: [String: Double] = [:], excerpt: SearchExcerpt? = nil
    ) async throws -> [SearchResult<E>] {
        let search = try Search<E>(
            indexes: searchIndexes, query: query, limit: limit, offset: offset, syntax: syntax, weights: weights,
            excerpt: excerpt)
        return try await read { try search.run($0) }
    }

    /// Like ``search(_:query:limit:offset:syntax:weights:excerpt:)``, with a few marked words around each match.
    ///
    /// ```swift
    /// for result in try await storage.searchWithSnippets(Article.self, query: "swift", snippetColumn: 1) {
    ///     print(result.entity.title, result.snippet ?? "")
    /// }
    /// ```
    ///
    /// - Parameter snippetColumn: The column to show, by its index among the indexed columns, starting at 0.
    /// - Throws: ``StorageError`` with `not-found` if there is no index, `invalid-query` for invalid text in the FTS5 syntax.
    public func searchWithSnippets<E: RegisteredEntity>(
        _ type: E.Type, query: String, snippetColumn: Int = 0, limit: Int = 50
    ) async throws -> [SearchResult<E>] {
        try await search(type, query: query, limit: limit, excerpt: .snippet(columnIndex: snippetColumn))
    }

    /// Returns the number of entities that match a text.
    ///
    /// ```swift
    /// let count = try await storage.searchCount(Article.self, query: "swift concur*")
    /// ```
    ///
    /// - Throws: ``StorageError`` with `not-found` if there is no index, `invalid-query` for invalid text in the FTS5 syntax.
    public func searchCount<E: RegisteredEntity>(
        _ type: E.Type, query: String, syntax: SearchSyntax = .simple
    ) async throws -> Int {
        let search = try Search<E>(
            indexes: searchIndexes, query: query, limit: 0, offset: 0, syntax: syntax, weights: [:], excerpt: nil)
        return try await read { try search.count($0) }
    }
}
