/// How the text of a search is interpreted.
public enum SearchSyntax: Sendable, Hashable {
    /// For text that people type. Every word must occur; `"quoted words"` must be adjacent; `word*` finds words with this prefix;
    /// `AND`, `OR`, `NOT` in capitals and parentheses work where they are valid. Everything else is matched literally, and no
    /// text is an error.
    case simple
    /// The full syntax of SQLite's FTS5, with column filters and NEAR. Invalid text is refused.
    case fts5
}
