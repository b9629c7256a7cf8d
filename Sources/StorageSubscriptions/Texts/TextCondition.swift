internal import StorageCore

/// A search as a condition of a row's words: what FTS5 answers to the same expression.
indirect enum TextCondition: Hashable {
    /// Words side by side, each as a ``ComparisonKey``. Without any it is never true.
    case phrase([[UInt8]], isPrefix: Bool)
    case all([TextCondition])
    case any([TextCondition])
    case without(TextCondition, TextCondition)

    /// - Returns: Nil where only the index can tell.
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

    // MARK: Being found

    /// How little its words narrow, as ``Condition`` counts.
    var cost: Int {
        switch self {
        case .phrase(let phrase, let isPrefix):
            guard let best = Self.best(phrase, isPrefix) else { return 0 }
            return best.isPrefix ? 64 + 256 / max(1, best.word.count - 1) : 32
        case .all(let parts): return parts.map(\.cost).min() ?? 0
        case .any(let parts): return parts.reduce(0) { $0 + $1.cost }
        case .without(let left, _): return left.cost
        }
    }

    /// Words of which a row has one wherever the condition is true.
    var anchors: [Anchor] {
        switch self {
        case .phrase(let phrase, let isPrefix):
            guard let best = Self.best(phrase, isPrefix) else { return [] }
            return [best.isPrefix ? .prefix(of: best.word[1...], RowKeys.words) : .equal(to: best.word, RowKeys.words)]
        case .all(let parts): return parts.min { $0.cost < $1.cost }?.anchors ?? []
        case .any(let parts): return parts.flatMap(\.anchors)
        case .without(let left, _): return left.anchors
        }
    }

    /// The longest word that is whole, or else the one that may be longer.
    private static func best(_ phrase: [[UInt8]], _ isPrefix: Bool) -> (word: [UInt8], isPrefix: Bool)? {
        let whole = isPrefix ? phrase.dropLast() : phrase[...]
        if let word = whole.max(by: { $0.count < $1.count }) { return (word, false) }
        return phrase.last.map { ($0, true) }
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
