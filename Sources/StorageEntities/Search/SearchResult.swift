/// One entity that a search found.
public struct SearchResult<Entity: Sendable>: Sendable {
    /// The entity that was found.
    public let entity: Entity
    /// How well it fits: BM25 as FTS5 counts it, lower is better.
    public let rank: Double
    /// The marked text of the match, if the search requested it.
    public let snippet: String?

    package init(entity: Entity, rank: Double, snippet: String?) {
        self.entity = entity
        self.rank = rank
        self.snippet = snippet
    }
}

extension SearchResult: Equatable where Entity: Equatable {}
