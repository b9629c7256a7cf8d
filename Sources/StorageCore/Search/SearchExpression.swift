/// What a search asks of a row's texts.
package indirect enum SearchExpression: Sendable, Hashable {
    /// Words that stand side by side in one text, as the index cuts it into words; of the last one it may be only how it
    /// begins.
    case words(String, isPrefix: Bool)
    case all([SearchExpression])
    case any([SearchExpression])
    /// The first, and not the second.
    case without(SearchExpression, SearchExpression)

    /// The expression as FTS5 reads it.
    package var text: String {
        switch self {
        case .words(let words, let isPrefix):
            "\"" + words.doublingQuotes + "\"" + (isPrefix ? " *" : "")
        case .all(let parts): parts.map(\.part).joined(separator: " AND ")
        case .any(let parts): parts.map(\.part).joined(separator: " OR ")
        case .without(let left, let right): "(\(left.part) NOT \(right.part))"
        }
    }

    /// The expression as part of another one.
    private var part: String {
        switch self {
        case .words, .without: text
        case .all, .any: "(\(text))"
        }
    }
}
