/// How the text of a search is to be understood.
public enum SearchSyntax: Sendable, Hashable {
    /// For text that people type. Every word must occur; `"quoted words"` must stand side by side; `word*` finds what
    /// begins so; `AND`, `OR`, `NOT` in capitals and parentheses work where they make sense. Whatever else there is
    /// is looked for as it stands, and nothing is ever an error.
    case simple
    /// The full syntax of SQLite's FTS5, with column filters and NEAR. Text that isn't such is refused.
    case fts5
}

/// Turns text that people type into an FTS5 expression that can't be wrong.
package struct SearchText {
    private enum Token: Equatable {
        case term(String, isPrefix: Bool)
        case and, or, not, open, close
    }

    private var tokens: [Token]
    private var next = 0
    private var depth = 0
    /// FTS5 has a limit of its own on how deep expressions nest.
    private static let depthLimit = 32

    /// The FTS5 expression; nil where there is nothing to look for.
    ///
    /// - Parameter keepsSigns: Whether words without a letter or digit count, as they do for the trigram tokenizer.
    package static func expression(_ text: String, keepsSigns: Bool = false) -> String? {
        let tokens = tokens(of: text, keepsSigns: keepsSigns)
        var parser = SearchText(tokens: tokens)
        if let expression = parser.alternatives(), parser.next == tokens.count { return expression }
        // Not an expression: every word is looked for, those that look like operators too.
        let words = tokens.compactMap { token in
            switch token {
            case .term(let word, let isPrefix): quoted(word, isPrefix)
            case .and: quoted("AND", false)
            case .or: quoted("OR", false)
            case .not: quoted("NOT", false)
            case .open, .close: nil
            }
        }
        return words.isEmpty ? nil : words.joined(separator: " AND ")
    }

    private static func quoted(_ word: String, _ isPrefix: Bool) -> String {
        "\"" + word.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
            + (isPrefix ? " *" : "")
    }
}

// MARK: Words

extension SearchText {
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

extension SearchText {
    private init(tokens: [Token]) { self.tokens = tokens }

    private var token: Token? { next < tokens.count ? tokens[next] : nil }

    private mutating func take(_ wanted: Token) -> Bool {
        guard token == wanted else { return false }
        next += 1
        return true
    }

    private mutating func alternatives() -> String? {
        guard var left = conjunction() else { return nil }
        while take(.or) {
            guard let right = conjunction() else { return nil }
            left += " OR " + right
        }
        return left
    }

    /// Words side by side must all occur, with or without AND between them.
    private mutating func conjunction() -> String? {
        guard var left = exclusion() else { return nil }
        while true {
            let isStated = take(.and)
            switch token {
            case .term, .open:
                guard let right = exclusion() else { return nil }
                left += " AND " + right
            default: return isStated ? nil : left
            }
        }
    }

    private mutating func exclusion() -> String? {
        guard var left = part() else { return nil }
        while take(.not) {
            guard let right = part() else { return nil }
            left = "(\(left) NOT \(right))"
        }
        return left
    }

    private mutating func part() -> String? {
        switch token {
        case .term(let word, let isPrefix):
            next += 1
            return Self.quoted(word, isPrefix)
        case .open where depth < Self.depthLimit:
            next += 1
            depth += 1
            defer { depth -= 1 }
            guard let inner = alternatives(), take(.close) else { return nil }
            return "(\(inner))"
        default: return nil
        }
    }
}
