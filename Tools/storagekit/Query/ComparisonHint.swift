import Foundation
import StorageKit

/// A comparison in a query that can't match as intended: of a numeric column without a declared type with a text that looks like a number. Imported
/// columns have no type, so that `1` and `1.0` remain different, and in SQLite a number is less than any text.
struct ComparisonHint: Equatable {
    let column: String
    let literal: String

    var text: String {
        "note: \(column) holds numbers, and '\(literal)' is a text: without quotes, \(literal) compares as a number."
    }

    private enum Word: Equatable {
        case name(String)
        case comparison
        case text(String)
        case other
    }

    private static let comparisons: Set<String> = ["=", "==", "<", ">", "<=", ">=", "<>", "!="]

    /// Returns the first such comparison; nil if there is none. Columns are identified by name only, so a name that another table uses for texts is
    /// ignored.
    static func find(in sql: String, _ catalog: Catalog) -> ComparisonHint? {
        let columns = catalog.live.flatMap(\.live)
        let words = words(of: sql)
        for index in words.indices.dropFirst().dropLast() where words[index] == .comparison {
            let hint: ComparisonHint? =
                switch (words[index - 1], words[index + 1]) {
                case (.name(let name), .text(let text)), (.text(let text), .name(let name)):
                    ComparisonHint(column: name, literal: text)
                default: nil
                }
            guard let hint, Double(hint.literal) != nil else { continue }
            let named = columns.filter { $0.stored.folded == hint.column.folded }
            let holdsNumbers = named.allSatisfy { column in
                column.isImported && ["INTEGER", "REAL"].contains(column.type)
            }
            if !named.isEmpty, holdsNumbers { return hint }
        }
        return nil
    }

    /// Returns the words of a query, as far as comparisons need them.
    private static func words(of sql: String) -> [Word] {
        var rest = Substring(sql)
        var words: [Word] = []
        while let first = rest.first {
            if first.isWhitespace {
                rest = rest.dropFirst()
            } else if first == "'" || first == "\"" {
                let quoted = quoted(&rest, by: first)
                words.append(first == "'" ? .text(quoted) : .name(quoted))
            } else if first.isLetter || first == "_" {
                let name = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }
                // A table's name before a quoted column is ignored.
                if name.last != "." { words.append(.name(name.split(separator: ".").last.map(String.init) ?? "")) }
                rest = rest.dropFirst(name.count)
            } else if "=<>!".contains(first) {
                let sign = rest.prefix { "=<>!".contains($0) }
                words.append(comparisons.contains(String(sign)) ? .comparison : .other)
                rest = rest.dropFirst(sign.count)
            } else {
                words.append(.other)
                rest = rest.dropFirst()
            }
        }
        return words
    }

    /// Returns the text between quotes; a doubled quote is one.
    private static func quoted(_ rest: inout Substring, by quote: Character) -> String {
        rest = rest.dropFirst()
        var text = ""
        while let next = rest.popFirst() {
            guard next == quote else {
                text.append(next)
                continue
            }
            guard rest.first == quote else { break }
            text.append(quote)
            rest = rest.dropFirst()
        }
        return text
    }
}

extension ComparisonHint {
    /// Writes the hint to standard error, so that it doesn't mix with the results.
    func write() {
        // Without standard error there is nowhere to write it.
        try? FileHandle.standardError.write(contentsOf: Data((TerminalText.visible(text) + "\n").utf8))
    }
}
