/// Parses text that people type; every text is a valid search.
package struct SearchTextParser {
    private enum Token: Equatable {
        case term(String, isPrefix: Bool)
        case and, or, not, open, close
    }

    private var tokens: [Token]
    private var next = 0
    private var depth = 0
    /// FTS5 limits the nesting of expressions, too.
    private static let depthLimit = 32

    /// The parsed expression; nil if the text contains nothing to search for.
    ///
    /// - Parameter keepsSigns: Whether to keep words without a letter or digit, for the trigram tokenizer.
    package static func expression(_ text: String, keepsSigns: Bool = false) -> SearchExpression? {
        let tokens = tokens(of: text, keepsSigns: keepsSigns)
        var parser = SearchTextParser(tokens: tokens)
        if let expression = parser.alternatives(), parser.next == tokens.count { return expression }
        // Not a valid expression: search for every word, including those that look like operators.
        let words = tokens.compactMap { token -> SearchExpression? in
            switch token {
            case .term(let word, let isPrefix): .words(word, isPrefix: isPrefix)
            case .and: .words("AND", isPrefix: false)
            case .or: .words("OR", isPrefix: false)
            case .not: .words("NOT", isPrefix: false)
            case .open, .close: nil
            }
        }
        return words.isEmpty ? nil : .all(words)
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
        return parts.count == 1 ? first : .any(parts)
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
                return parts.count == 1 ? first : .all(parts)
            }
        }
    }

    private mutating func exclusion() -> SearchExpression? {
        guard var left = part() else { return nil }
        while take(.not) {
            guard let right = part() else { return nil }
            left = .without(left, right)
        }
        return left
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
