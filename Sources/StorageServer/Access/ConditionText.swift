internal import Foundation
internal import StorageCore

/// A condition on rows as text, as used in tokens: a small subset of SQL.
///
/// ```
/// owner = 'ada' and (state in ('open', 'done') or priority >= 3) and not archived is null
/// ```
///
/// Columns are compared by `=`, `<>`, `!=`, `<`, `<=`, `>`, `>=`, `in (…)`, `is null`, `is not null` with texts in
/// single quotes, numbers, `true` and `false` (1 and 0). Conditions are combined by `and`, `or`, `not` and parentheses.
/// Column names with characters other than letters, digits and `_` are written in double quotes. A comparison with NULL
/// is unknown, and such a row doesn't match.
struct ConditionText {
    let predicate: RowPredicate

    /// - Throws: `invalid-query`, with the position of the error.
    init(_ text: String) throws {
        var parser = Parser(tokens: try Self.tokens(of: text))
        predicate = try parser.condition(depth: 0)
        guard parser.isAtEnd else { throw Self.invalid("there is text after its end") }
    }

    /// The maximum nesting of parentheses.
    private static let maximumDepth = 64

    private static func invalid(_ problem: String) -> StorageError {
        StorageError(
            .invalidQuery, "The condition can't be read: \(problem).",
            remedy: "Write it like: owner = 'ada' and state in ('open', 'done').")
    }
}

// MARK: Tokens

extension ConditionText {
    private static func tokens(of text: String) throws -> [SQLToken] {
        do {
            return try SQLToken.tokens(of: text)
        } catch .comment {
            throw invalid("it has a comment")
        } catch .openQuote {
            throw invalid("a quote isn't closed")
        }
    }

    /// - Throws: `invalid-query` for a name or text with NUL, where SQLite would end it.
    private static func checked(_ text: String) throws -> String {
        guard !text.utf8.contains(0) else { throw invalid("a text has the character NUL") }
        return text
    }

    private static func number(_ digits: String) throws -> StorageValue {
        if let integer = Int64(digits) { return .integer(integer) }
        guard digits.contains(where: { ".eE".contains($0) }),
            digits.allSatisfy({ $0.isASCII && ($0.isNumber || "+-.eE".contains($0)) }), let real = Double(digits),
            real.isFinite
        else { throw invalid("\(digits) is no number") }
        return .real(real)
    }
}

// MARK: Grammar

extension ConditionText {
    private struct Parser {
        let tokens: [SQLToken]
        private var index = 0

        init(tokens: [SQLToken]) { self.tokens = tokens }

        var isAtEnd: Bool { index == tokens.count }
        private var next: SQLToken? { isAtEnd ? nil : tokens[index] }

        mutating func condition(depth: Int) throws -> RowPredicate {
            guard depth < maximumDepth else { throw invalid("its parentheses are nested too deeply") }
            var parts = [try conjunction(depth: depth)]
            while take("or") { parts.append(try conjunction(depth: depth)) }
            return parts.count == 1 ? parts[0] : .any(parts)
        }

        private mutating func conjunction(depth: Int) throws -> RowPredicate {
            var parts = [try term(depth: depth)]
            while take("and") { parts.append(try term(depth: depth)) }
            return parts.count == 1 ? parts[0] : .all(parts)
        }

        private mutating func term(depth: Int) throws -> RowPredicate {
            var isNegated = false
            while take("not") { isNegated.toggle() }
            let term: RowPredicate
            if take(symbol: "(") {
                term = try condition(depth: depth + 1)
                guard take(symbol: ")") else { throw invalid("a bracket isn't closed") }
            } else {
                term = try comparison()
            }
            return isNegated ? .not(term) : term
        }

        private mutating func comparison() throws -> RowPredicate {
            let column = try column()
            if take("is") {
                let isNegated = take("not")
                guard take("null") else { throw invalid("\"is\" must be followed by null or not null") }
                return isNegated ? .not(.isNull(column: column)) : .isNull(column: column)
            }
            if take("in") { return .among(column: column, try list()) }
            guard case .symbol(let symbol) = next, let comparison = RowPredicate.Comparison(sql: symbol) else {
                throw invalid("a comparison is missing after \"\(column)\"")
            }
            index += 1
            return .comparison(column: column, comparison, .value(try value()))
        }

        private mutating func list() throws -> [StorageValue] {
            guard take(symbol: "(") else { throw invalid("a list in parentheses is missing after \"in\"") }
            var values = [try value()]
            while take(symbol: ",") { values.append(try value()) }
            guard take(symbol: ")") else { throw invalid("a list isn't closed") }
            return values
        }

        private mutating func column() throws -> String {
            switch next {
            case .name(let name):
                index += 1
                return try checked(name)
            case .word(let name) where !["and", "or", "not", "is", "in", "null"].contains(name.lowercased()):
                index += 1
                return name
            default: throw invalid("a column is missing")
            }
        }

        private mutating func value() throws -> StorageValue {
            if take("true") { return .integer(1) }
            if take("false") { return .integer(0) }
            let sign = take(symbol: "-") ? "-" : ""
            defer { index += 1 }
            switch next {
            case .number(let digits): return try number(sign + digits)
            case .text(let text) where sign.isEmpty: return .text(try checked(text))
            default: throw invalid("a value is missing")
            }
        }

        private mutating func take(_ keyword: String) -> Bool {
            guard next?.isWord(keyword.uppercased()) == true else { return false }
            index += 1
            return true
        }

        private mutating func take(symbol: String) -> Bool {
            guard next == .symbol(symbol) else { return false }
            index += 1
            return true
        }
    }
}
