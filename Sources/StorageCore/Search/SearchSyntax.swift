/// How the text of a search is interpreted.
///
/// ```swift
/// let found = try await storage.search(Article.self, query: "swift NEAR concurrency", syntax: .fts5)
/// ```
public enum SearchSyntax: Sendable, Hashable {
    /// The syntax for text that people type; every text is valid. Every word must occur; `"quoted words"` must be adjacent;
    /// `word*` finds words that begin with `word`; `AND`, `OR`, `NOT` in capitals and parentheses work if they are used
    /// correctly. Everything else is matched literally. A word that is typed twice counts once, for the rank as well.
    case simple
    /// The full syntax of SQLite's FTS5, with column filters and NEAR. Invalid text is an error.
    case fts5
}
