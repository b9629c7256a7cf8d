import Foundation

/// The text of a file that users read, line by line: for Swift the comments of public declarations and string literals, for Markdown
/// everything; without code.
struct UserText {
    struct Line {
        let number: Int
        var text: String
    }

    private(set) var lines: [Line] = []

    init(markdown: String) {
        lines = Self.prose(
            markdown.split(separator: "\n", omittingEmptySubsequences: false).enumerated().map(Line.init))
    }

    init(swift: String) {
        var comment: [Line] = []
        var scopes: [Scope] = []
        var isInLiteral = false
        for (offset, line) in swift.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let indent = line.utf8.prefix { $0 == UInt8(ascii: " ") }.count
            let code = line.dropFirst(indent)
            if isInLiteral {
                isInLiteral = !code.contains("\"\"\"")
                lines.append(Line(offset: offset, text: code))
            } else if code.hasPrefix("///") {
                comment.append(Line(offset: offset, text: code.dropFirst(3)))
            } else if code.isEmpty {
                comment = []
            } else if !code.hasPrefix("//") {
                isInLiteral = Self.opensLiteral(code)
                if !isInLiteral, code.contains("\"") {
                    lines.append(Line(number: offset + 1, text: Self.literals(String(code))))
                }
                let declaration = Declaration(code)
                if declaration.isAttribute { continue }
                while let scope = scopes.last, scope.indent >= indent { scopes.removeLast() }
                if declaration.isPublic(in: scopes.last) { lines += Self.prose(comment) }
                comment = []
                if declaration.isType { scopes.append(Scope(indent: indent, declaration: declaration)) }
            }
        }
        lines.sort { $0.number < $1.number }
    }

    private static func opensLiteral(_ code: Substring) -> Bool {
        code.ranges(of: "\"\"\"").count == 1
    }

    /// The literals of a line, without what is interpolated.
    private static func literals(_ code: String) -> String {
        let code = code.replacing(interpolation, with: "…")
        return code.matches(of: literal).map { String($0.output.dropFirst().dropLast()) }.joined(separator: " ")
    }

    /// Leaves out blocks and spans of code.
    private static func prose(_ lines: [Line]) -> [Line] {
        var isCode = false
        return lines.compactMap { line in
            if line.text.drop(while: { $0 == " " }).hasPrefix("```") {
                isCode.toggle()
                return nil
            }
            return isCode ? nil : Line(number: line.number, text: line.text.replacing(codeSpan, with: "…"))
        }
    }

    // Sound: a regular expression is never changed; only its type can't promise that, because it may hold closures.
    nonisolated(unsafe) private static let interpolation = /\\\([^()]*(?:\([^()]*\)[^()]*)*\)/
    nonisolated(unsafe) private static let literal = /"(?:[^"\\]|\\.)*"/
    nonisolated(unsafe) private static let codeSpan = /``?[^`]+``?/
}

extension UserText.Line {
    fileprivate init(offset: Int, text: Substring) { self.init(number: offset + 1, text: String(text)) }
}

// MARK: Declarations

/// A type whose braces are open.
private struct Scope {
    let indent: Int
    let declaration: Declaration
}

/// What the first line of a declaration says of it.
private struct Declaration {
    private let words: Set<Substring>
    private let isWholeAttribute: Bool

    private static let types: Set<Substring> = ["struct", "class", "enum", "actor", "protocol", "extension"]
    private static let others: Set<Substring> = [
        "func", "var", "let", "init", "subscript", "case", "typealias", "associatedtype", "macro",
    ]
    private static let restrictions: Set<Substring> = ["private", "fileprivate", "internal", "package"]

    init(_ code: Substring) {
        var words = Set(code.prefix { !"({=:<".contains($0) }.split(separator: " "))
        // Attributes with arguments hide the words behind them.
        if code.hasPrefix("@"), let end = code.firstIndex(of: ")") {
            words.formUnion(code[end...].dropFirst().prefix { !"({=:<".contains($0) }.split(separator: " "))
        }
        self.words = words
        isWholeAttribute = code.hasPrefix("@")
    }

    var isType: Bool { !words.isDisjoint(with: Self.types) }
    var isAttribute: Bool { isWholeAttribute && !isType && words.isDisjoint(with: Self.others) }

    /// Cases of a public enumeration, requirements of a public protocol and members of a public extension are public, too.
    func isPublic(in scope: Scope?) -> Bool {
        if words.contains("public") { return true }
        guard let outer = scope?.declaration, outer.words.contains("public"), words.isDisjoint(with: Self.restrictions)
        else {
            return false
        }
        return outer.words.contains("protocol") || outer.words.contains("extension")
            || outer.words.contains("enum") && words.contains("case")
    }
}
