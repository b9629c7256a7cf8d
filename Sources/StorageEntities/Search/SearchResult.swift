/// One entity that a search found.
///
/// ```swift
/// for result in try await storage.search(Article.self, query: "swift", excerpt: .snippet()) {
///     print(result.entity.title, result.rank, result.snippet ?? "")
/// }
/// ```
public struct SearchResult<Entity: Sendable>: Sendable {
    /// The entity that was found.
    public let entity: Entity
    /// How well it matches: the BM25 score as FTS5 computes it; lower is better.
    public let rank: Double
    /// The excerpt with marked matches, if the search requested one.
    public let snippet: String?

    package init(entity: Entity, rank: Double, snippet: String?) {
        self.entity = entity
        self.rank = rank
        self.snippet = snippet
    }
}

extension SearchResult: Equatable where Entity: Equatable {}

/// Identified as its entity is: a search finds each entity once.
extension SearchResult: Identifiable where Entity: Identifiable {
    public var id: Entity.ID { entity.id }
}
