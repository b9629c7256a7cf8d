import Foundation
import StorageCore

/// Words of SQL that Tab completes: tables, columns, keywords.
struct SQLWords: Sendable {
    struct Table: Sendable {
        let name: String
        let columns: [String]
        /// Whether it is a table of history, beside a table of the store.
        var isHistory = false
    }

    private static let keywords = [
        "AND", "AS", "ASC", "BETWEEN", "BY", "CASE", "CAST", "COLLATE", "count(", "DESC", "DISTINCT", "ELSE", "END",
        "EXISTS", "EXPLAIN", "FROM", "GLOB", "GROUP", "HAVING", "IN", "INNER", "IS", "JOIN", "LEFT", "LIKE", "LIMIT",
        "MATCH", "max(", "min(", "NOT", "NULL", "OFFSET", "ON", "OR", "ORDER", "OVER", "PARTITION", "QUERY", "SELECT",
        "sum(", "THEN", "UNION", "USING", "VALUES", "WHEN", "WHERE", "WITH",
    ]

    let tables: [Table]

    /// Returns the candidates for the word at the end of a line.
    func candidates(for line: String) -> WordCandidates {
        let typed = Self.lastWord(of: line)
        let before = line.dropLast(typed.count)
        let bare = Self.folded(typed.replacing("\"", with: ""))
        var names: [String] = []
        if before.last == "." {
            let owner = Self.folded(Self.lastWord(of: String(before.dropLast())).replacing("\"", with: ""))
            names = tables.filter { Self.folded($0.name) == owner }.flatMap(\.columns).map(Self.quoted)
        } else {
            let all = tables.map(\.name) + columns(for: line)
            names = all.filter { Self.folded($0).hasPrefix(bare) }.map(Self.quoted)
            if !typed.isEmpty, !typed.hasPrefix("\"") {
                // Keywords in the case that the user types.
                let isLower = typed.contains(where: \.isLowercase)
                names += Self.keywords.filter { $0.lowercased().hasPrefix(bare) }
                    .map { isLower ? $0.lowercased() : $0.uppercased() }
            }
        }
        var seen: Set<String> = []
        let words = names.filter { Self.folded($0.replacing("\"", with: "")).hasPrefix(bare) }
            .map { typed.hasPrefix("\"") && !$0.hasPrefix("\"") ? "\"\($0)\"" : $0 }
            .filter { seen.insert($0).inserted }
        return WordCandidates(typed: typed, words: words.sorted(), end: words.first?.hasSuffix("(") == true ? "" : " ")
    }

    /// Returns the columns of the tables that the line names, or of the store's own tables.
    private func columns(for line: String) -> [String] {
        let words = Set(line.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(Self.folded))
        let named = tables.filter { words.contains(Self.folded($0.name)) }
        return (named.isEmpty ? tables.filter { !$0.isHistory } : named).flatMap(\.columns)
    }

    private static func folded(_ text: some StringProtocol) -> String { text.lowercased() }

    /// Returns the name at the end of a line, with its quotation mark if it has one.
    private static func lastWord(of line: String) -> String {
        let quotes = line.count { $0 == "\"" }
        if !quotes.isMultiple(of: 2), let open = line.lastIndex(of: "\"") { return String(line[open...]) }
        return String(line.reversed().prefix { $0.isLetter || $0.isNumber || $0 == "_" }.reversed())
    }

    /// Returns a name, quoted if SQL requires it.
    private static func quoted(_ name: String) -> String {
        let isPlain =
            name.first?.isNumber == false
            && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
            && !keywords.contains(name.uppercased())
        return isPlain ? name : "\"\(name.doublingQuotes)\""
    }
}
