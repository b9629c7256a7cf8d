/// A condition on a row's texts.
package indirect enum SearchExpression: Sendable, Hashable {
    /// Adjacent words in one text, as split by the index's tokenizer; the last word may be only a prefix.
    case words(String, isPrefix: Bool)
    case all([SearchExpression])
    case any([SearchExpression])
    /// Matches the first expression, but not the second.
    case without(SearchExpression, SearchExpression)

    /// The expression in FTS5 syntax.
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
