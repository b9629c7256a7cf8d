import Foundation

/// A command line up to the cursor, as its shell reads it.
///
/// Environment variables are expanded, as in `-s $STORE`; nothing else is expanded, and nothing is run.
struct ShellLine {
    /// The words before the one at the cursor.
    private(set) var words: [String] = []
    /// The word at the cursor, possibly incomplete; empty after a space.
    private(set) var current = ""
    /// The quotation mark that is open at the cursor.
    private(set) var quote: Character?

    private let shell: CompletionShellName
    private let environment: [String: String]

    init(
        _ line: String, _ shell: CompletionShellName,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        self.shell = shell
        self.environment = environment
        read(line[...])
    }

    private mutating func read(_ line: Substring) {
        var rest = line
        var isWord = false
        while let next = rest.popFirst() {
            if quote == nil, next.isWhitespace {
                if isWord { words.append(Self.withHome(current, environment)) }
                (current, isWord) = ("", false)
                continue
            }
            isWord = true
            if next == quote {
                quote = nil
            } else if quote == nil, next == "'" || next == "\"" {
                quote = next
            } else if next == "\\", let escaped = rest.first {
                if isEscape(before: escaped) {
                    current.append(rest.removeFirst())
                } else {
                    current.append(next)
                }
            } else if next == "\\", quote == nil {
                // The escaped character isn't typed yet.
            } else if next == "$", quote != "'", let value = variable(&rest) {
                current += value
            } else {
                current.append(next)
            }
        }
    }

    private func isEscape(before next: Character) -> Bool {
        switch quote {
        case nil: true
        case "'": shell == .fish && (next == "'" || next == "\\")
        default: next == "\"" || next == "\\" || next == "$" || next == "`" && shell != .fish
        }
    }

    /// Returns the value of `NAME` or `{NAME}` after a dollar sign; nil if it isn't such a name.
    private func variable(_ rest: inout Substring) -> String? {
        let isBraced = rest.first == "{"
        let name = rest.dropFirst(isBraced ? 1 : 0).prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
        guard let first = name.first, !first.isNumber else { return nil }
        let end = name.endIndex
        guard !isBraced || rest[end...].first == "}" else { return nil }
        rest = isBraced ? rest[rest.index(after: end)...] : rest[end...]
        return environment[String(name)] ?? ""
    }

    /// Returns a path with `~` replaced by the home folder.
    static func withHome(_ word: String, _ environment: [String: String]) -> String {
        guard word == "~" || word.hasPrefix("~/"), let home = environment["HOME"] else { return word }
        return home + word.dropFirst()
    }
}

extension ShellLine {
    /// Returns text as it must be typed after the existing text: inside the open quotation mark, or with escapes.
    func typed(_ text: String, isWordStart: Bool) -> String {
        var output = ""
        // An escaped `~` would be part of a name.
        var rest = text[...]
        if isWordStart, quote == nil, rest.hasPrefix("~/") {
            output = "~/"
            rest = rest.dropFirst(2)
        }
        for character in rest {
            switch quote {
            case "'" where character == "'": output += "'\\''"
            case "'": output.append(character)
            case nil:
                let isPlain =
                    !character.isASCII || character.isLetter || character.isNumber
                    || "_@%+=:,./-^".contains(character)
                    || (!output.isEmpty || !isWordStart) && "#~".contains(character)
                output += isPlain ? "\(character)" : "\\\(character)"
            default: output += "\"\\$`".contains(character) ? "\\\(character)" : "\(character)"
            }
        }
        return output
    }
}
