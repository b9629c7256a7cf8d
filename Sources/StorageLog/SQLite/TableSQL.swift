/// Works on the text of `CREATE TABLE` as SQLite keeps it.
package enum TableSQL {
    /// The same table under another name, which stands as it is to stand in SQL; nil where the text isn't understood.
    package static func renaming(_ sql: String, to name: String) -> String? {
        var rest = Substring(sql)
        for word in ["CREATE", "TABLE"] {
            rest = rest.drop(while: \.isWhitespace)
            guard rest.prefix(word.count).uppercased() == word else { return nil }
            rest = rest.dropFirst(word.count)
        }
        rest = rest.drop(while: \.isWhitespace)
        guard let first = rest.first else { return nil }
        let closing: Character? =
            switch first {
            case "\"", "`", "'": first
            case "[": "]"
            default: nil
            }
        if let closing {
            rest = rest.dropFirst()
            while let end = rest.firstIndex(of: closing) {
                rest = rest[rest.index(after: end)...]
                // A doubled quote stands for the quote itself.
                guard closing != "]", rest.first == closing else { return "CREATE TABLE \(name)\(spaced(rest))" }
                rest = rest.dropFirst()
            }
            return nil
        }
        rest = rest.drop { !$0.isWhitespace && $0 != "(" }
        return "CREATE TABLE \(name)\(spaced(rest))"
    }

    private static func spaced(_ rest: Substring) -> String {
        rest.first?.isWhitespace ?? true ? String(rest) : " " + rest
    }
}
