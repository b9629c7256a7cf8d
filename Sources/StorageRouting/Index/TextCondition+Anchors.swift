extension TextCondition {
    /// The selectivity of its words, in the units of ``AnchorCost``.
    var cost: Int {
        switch self {
        case .phrase(let phrase, let isPrefix):
            guard let best = Self.best(phrase, isPrefix) else { return 0 }
            return best.isPrefix ? AnchorCost.prefix(length: best.word.count - 1) : AnchorCost.word
        case .all(let parts): return parts.map(\.cost).min() ?? 0
        case .any(let parts): return parts.reduce(0) { $0 + $1.cost }
        case .without(let left, _): return left.cost
        }
    }

    /// Anchors of which a row has at least one whenever the condition is true.
    var anchors: [Anchor] {
        switch self {
        case .phrase(let phrase, let isPrefix):
            guard let best = Self.best(phrase, isPrefix) else { return [] }
            return [best.isPrefix ? .prefix(of: best.word[1...], .words) : .equal(to: best.word, .words)]
        case .all(let parts): return parts.min { $0.cost < $1.cost }?.anchors ?? []
        case .any(let parts): return parts.flatMap(\.anchors)
        case .without(let left, _): return left.anchors
        }
    }

    /// The longest complete word; if there is none, the prefix.
    private static func best(_ phrase: [[UInt8]], _ isPrefix: Bool) -> (word: [UInt8], isPrefix: Bool)? {
        let whole = isPrefix ? phrase.dropLast() : phrase[...]
        if let word = whole.max(by: { $0.count < $1.count }) { return (word, false) }
        return phrase.last.map { ($0, true) }
    }
}
