/// What a search shows of the text that it found.
public struct SearchExcerpt: Sendable, Hashable {
    enum Form: Sendable, Hashable {
        case snippet(ellipsis: String, words: Int)
        case highlight
    }

    /// The column to take it from, by its place among the indexed columns; nil for the one that fits best.
    enum Source: Sendable, Hashable {
        case best
        case index(Int)
        case name(String)
    }

    let form: Form
    let source: Source
    let start: String
    let end: String

    /// A few words around the match.
    ///
    /// - Parameters:
    ///   - column: The column's name; the one that fits best where nil.
    ///   - start: Inserted before a match; `end` likewise.
    ///   - ellipsis: Inserted where text was left out.
    ///   - words: How long it may be, 1 to 64 words.
    public static func snippet(
        column: String? = nil, start: String = "<b>", end: String = "</b>", ellipsis: String = "...", words: Int = 32
    ) -> SearchExcerpt {
        SearchExcerpt(
            form: .snippet(ellipsis: ellipsis, words: words), source: column.map(Source.name) ?? .best, start: start,
            end: end)
    }

    /// The whole text of a column, with every word that was found marked.
    public static func highlight(column: String, start: String = "<b>", end: String = "</b>") -> SearchExcerpt {
        SearchExcerpt(form: .highlight, source: .name(column), start: start, end: end)
    }

    package static func snippet(columnIndex: Int) -> SearchExcerpt {
        SearchExcerpt(
            form: .snippet(ellipsis: "...", words: 32), source: .index(columnIndex), start: "<b>", end: "</b>")
    }
}
