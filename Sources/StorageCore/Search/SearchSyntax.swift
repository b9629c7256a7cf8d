/// How the text of a search is to be understood.
public enum SearchSyntax: Sendable, Hashable {
    /// For text that people type. Every word must occur; `"quoted words"` must be adjacent; `word*` finds what
    /// begins so; `AND`, `OR`, `NOT` in capitals and parentheses work where they make sense. Whatever else there is
    /// is matched literally, and nothing is ever an error.
    case simple
    /// The full syntax of SQLite's FTS5, with column filters and NEAR. Text that isn't such is refused.
    case fts5
}
