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

    /// How many parentheses enclose the innermost part of ``text``.
    package var depth: Int {
        switch self {
        case .words: 0
        case .all(let parts), .any(let parts): parts.map(\.partDepth).max() ?? 0
        case .without(let left, let right): 1 + max(left.partDepth, right.partDepth)
        }
    }

    private var partDepth: Int {
        switch self {
        case .words, .without: depth
        case .all, .any: 1 + depth
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
