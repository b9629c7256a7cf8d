/// Parses text that people type; every text is a valid search.
package struct SearchTextParser {
    private enum Token: Equatable {
        case term(String, isPrefix: Bool)
        case and, or, not, open, close
    }

    private var tokens: [Token]
    private var next = 0
    private var depth = 0
    /// The deepest nesting of an expression. FTS5's parser overflows beyond 30, or less with a list of columns before it.
    private static let depthLimit = 24

    /// The parsed expression; nil if the text contains nothing to search for.
    ///
    /// - Parameter keepsSigns: Whether to keep words without a letter or digit, for the trigram tokenizer.
    package static func expression(_ text: String, keepsSigns: Bool = false) -> SearchExpression? {
        let tokens = tokens(of: text, keepsSigns: keepsSigns)
        var parser = SearchTextParser(tokens: tokens)
        if let expression = parser.alternatives(), parser.next == tokens.count, expression.depth <= depthLimit {
            return expression
        }
        // Not a valid expression, or one that FTS5 can't parse: search for every word, including those that look like operators.
        let words = tokens.compactMap { token -> SearchExpression? in
            switch token {
            case .term(let word, let isPrefix): .words(word, isPrefix: isPrefix)
            case .and: .words("AND", isPrefix: false)
            case .or: .words("OR", isPrefix: false)
            case .not: .words("NOT", isPrefix: false)
            case .open, .close: nil
            }
        }
        return words.isEmpty ? nil : .all(distinct(words))
    }
}

// MARK: Words

extension SearchTextParser {
    private static func tokens(of text: String, keepsSigns: Bool) -> [Token] {
        var tokens: [Token] = []
        var rest = Substring(text)
        func add(_ word: Substring, isPrefix: Bool) {
            guard keepsSigns ? !word.isEmpty : word.contains(where: { $0.isLetter || $0.isNumber }) else { return }
            tokens.append(.term(String(word), isPrefix: isPrefix))
        }
        while let first = rest.first {
            if isSpace(first) {
                rest.removeFirst()
            } else if first == "\"" {
                rest.removeFirst()
                let phrase = rest.prefix { $0 != "\"" && $0 != "\0" }
                rest = rest[phrase.endIndex...].dropFirst()
                let isPrefix = rest.first == "*"
                add(phrase, isPrefix: isPrefix)
                if isPrefix { rest.removeFirst() }
            } else if first == "(" || first == ")" {
                tokens.append(first == "(" ? .open : .close)
                rest.removeFirst()
            } else {
                let word = rest.prefix { !isSpace($0) && $0 != "\"" && $0 != "(" && $0 != ")" }
                rest = rest[word.endIndex...]
                switch word {
                case "AND": tokens.append(.and)
                case "OR": tokens.append(.or)
                case "NOT": tokens.append(.not)
                default:
                    let isPrefix = word.last == "*"
                    add(isPrefix ? word.dropLast() : word, isPrefix: isPrefix)
                }
            }
        }
        return tokens
    }

    private static func isSpace(_ character: Character) -> Bool { character.isWhitespace || character == "\0" }
}

// MARK: Expressions

extension SearchTextParser {
    private init(tokens: [Token]) { self.tokens = tokens }

    private var token: Token? { next < tokens.count ? tokens[next] : nil }

    private mutating func take(_ wanted: Token) -> Bool {
        guard token == wanted else { return false }
        next += 1
        return true
    }

    private mutating func alternatives() -> SearchExpression? {
        guard let first = conjunction() else { return nil }
        var parts = [first]
        while take(.or) {
            guard let part = conjunction() else { return nil }
            parts.append(part)
        }
        return Self.joined(parts, SearchExpression.any)
    }

    /// Consecutive words must all occur, with or without AND between them.
    private mutating func conjunction() -> SearchExpression? {
        guard let first = exclusion() else { return nil }
        var parts = [first]
        while true {
            let isStated = take(.and)
            switch token {
            case .term, .open:
                guard let part = exclusion() else { return nil }
                parts.append(part)
            default:
                if isStated { return nil }
                return Self.joined(parts, SearchExpression.all)
            }
        }
    }

    private mutating func exclusion() -> SearchExpression? {
        guard let left = part() else { return nil }
        var excluded: [SearchExpression] = []
        while take(.not) {
            guard let right = part() else { return nil }
            excluded.append(right)
        }
        // One exclusion of all, because FTS5 limits the nesting.
        return excluded.isEmpty ? left : .without(left, Self.joined(excluded, SearchExpression.any))
    }

    private static func joined(
        _ parts: [SearchExpression], _ join: ([SearchExpression]) -> SearchExpression
    ) -> SearchExpression {
        let parts = distinct(parts)
        return parts.count == 1 ? parts[0] : join(parts)
    }

    /// The expressions without repetitions, which match nothing else, and for which FTS5 needs time in the square of their number.
    private static func distinct(_ parts: [SearchExpression]) -> [SearchExpression] {
        // By bytes: an index may distinguish texts that Swift considers equal.
        var known: Set<[UInt8]> = []
        return parts.filter { known.insert(Array($0.text.utf8)).inserted }
    }

    private mutating func part() -> SearchExpression? {
        switch token {
        case .term(let word, let isPrefix):
            next += 1
            return .words(word, isPrefix: isPrefix)
        case .open where depth < Self.depthLimit:
            next += 1
            depth += 1
            defer { depth -= 1 }
            guard let inner = alternatives(), take(.close) else { return nil }
            return inner
        default: return nil
        }
    }
}
