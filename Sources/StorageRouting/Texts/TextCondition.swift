internal import StorageCore

/// A search as a condition of a row's words: what FTS5 answers to the same expression.
package indirect enum TextCondition: Hashable {
    /// Words side by side, each as a ``ComparisonKey``. Without any it is never true.
    case phrase([[UInt8]], isPrefix: Bool)
    case all([TextCondition])
    case any([TextCondition])
    case without(TextCondition, TextCondition)

    /// - Returns: Nil if only the index knows.
    init?(_ expression: SearchExpression, _ tokenizer: TextTokenizer) {
        switch expression {
        case .words(var text, let isPrefix):
            let words = WordList()
            text.withUTF8 {
                tokenizer.cut(UnsafeRawBufferPointer($0), for: .query(isPrefix: isPrefix), into: words)
            }
            guard !words.hasSynonyms else { return nil }
            self = .phrase((0..<words.count).map { Array(words[$0]) }, isPrefix: isPrefix)
        case .all(let parts):
            let read = parts.compactMap { TextCondition($0, tokenizer) }
            guard read.count == parts.count else { return nil }
            self = .all(read)
        case .any(let parts):
            let read = parts.compactMap { TextCondition($0, tokenizer) }
            guard read.count == parts.count else { return nil }
            self = .any(read)
        case .without(let left, let right):
            guard let left = TextCondition(left, tokenizer), let right = TextCondition(right, tokenizer) else {
                return nil
            }
            self = .without(left, right)
        }
    }

    func isTrue(_ words: WordList) -> Bool {
        switch self {
        case .phrase(let phrase, let isPrefix): !phrase.isEmpty && words.holds(phrase, isPrefix: isPrefix)
        case .all(let parts): parts.allSatisfy { $0.isTrue(words) }
        case .any(let parts): parts.contains { $0.isTrue(words) }
        case .without(let left, let right): left.isTrue(words) && !right.isTrue(words)
        }
    }

    /// Bytes for an order that is always the same.
    var signature: [UInt8] {
        switch self {
        case .phrase(let phrase, let isPrefix): [isPrefix ? 1 : 2] + phrase.joined(separator: [0]) + [0]
        case .all(let parts): [3] + parts.flatMap(\.signature)
        case .any(let parts): [4] + parts.flatMap(\.signature)
        case .without(let left, let right): [5] + left.signature + right.signature
        }
    }
}
