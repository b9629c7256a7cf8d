/// The excerpt of the matching text to return with each result of a search.
///
/// ```swift
/// let found = try await storage.search(
///     Article.self, query: "swift", excerpt: .highlight(column: "title", start: "[", end: "]"))
/// ```
public struct SearchExcerpt: Sendable, Hashable {
    enum Form: Sendable, Hashable {
        case snippet(ellipsis: String, words: Int)
        case highlight
    }

    /// The column of the excerpt, by index among the indexed columns, by name, or the one that matches best.
    enum Source: Sendable, Hashable {
        case best
        case index(Int)
        case name(String)
    }

    let form: Form
    let source: Source
    let start: String
    let end: String

    /// Returns an excerpt of a few words around a match.
    ///
    /// - Parameters:
    ///   - column: The column's name; nil for the column that matches best.
    ///   - start: Inserted before a match; `end` after it.
    ///   - ellipsis: Inserted where text was omitted.
    ///   - words: The maximum length, 1 to 64 words.
    public static func snippet(
        column: String? = nil, start: String = "<b>", end: String = "</b>", ellipsis: String = "...", words: Int = 32
    ) -> SearchExcerpt {
        SearchExcerpt(
            form: .snippet(ellipsis: ellipsis, words: words), source: column.map(Source.name) ?? .best, start: start,
            end: end)
    }

    /// Returns an excerpt with the whole text of a column, in which every match is marked.
    public static func highlight(column: String, start: String = "<b>", end: String = "</b>") -> SearchExcerpt {
        SearchExcerpt(form: .highlight, source: .name(column), start: start, end: end)
    }

    package static func snippet(columnIndex: Int) -> SearchExcerpt {
        SearchExcerpt(
            form: .snippet(ellipsis: "...", words: 32), source: .index(columnIndex), start: "<b>", end: "</b>")
    }
}
