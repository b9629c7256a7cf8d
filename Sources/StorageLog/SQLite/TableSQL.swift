/// Reads and edits the texts of `CREATE TABLE` that SQLite keeps.
package enum TableSQL {
    /// Renames the table to `name`, which must be quoted if SQL requires it; nil if the text can't be parsed.
    package static func renaming(_ sql: String, to name: String) -> String? {
        afterName(in: sql).map { "CREATE TABLE \(name)\(spaced($0))" }
    }

    /// What follows the table's name; nil for the text of another object.
    static func afterName(in sql: String) -> Substring.UTF8View? {
        // By bytes, as SQLite reads it: Swift combines a quotation mark and a combining mark after it to one character.
        var rest = sql.utf8[...]
        for word in ["CREATE", "TABLE"] {
            rest = rest.drop(while: isSpace)
            guard Substring(rest.prefix(word.utf8.count)).uppercased() == word else { return nil }
            rest = rest.dropFirst(word.utf8.count)
        }
        rest = rest.drop(while: isSpace)
        guard let first = rest.first else { return nil }
        if isQuote(first) { return afterQuoted(rest) }
        // A comment may follow a name directly.
        return rest.drop { !isSpace($0) && ![UInt8(ascii: "("), UInt8(ascii: "/"), UInt8(ascii: "-")].contains($0) }
    }

    /// What follows a quoted name or text at the beginning; nil if it doesn't end.
    static func afterQuoted(_ text: Substring.UTF8View) -> Substring.UTF8View? {
        guard let first = text.first else { return nil }
        let closing = first == UInt8(ascii: "[") ? UInt8(ascii: "]") : first
        var rest = text.dropFirst()
        while let end = rest.firstIndex(of: closing) {
            rest = rest[rest.index(after: end)...]
            // A doubled quote stands for the quote itself.
            guard closing != UInt8(ascii: "]"), rest.first == closing else { return rest }
            rest = rest.dropFirst()
        }
        return nil
    }

    static func isQuote(_ byte: UInt8) -> Bool { "\"`'[".utf8.contains(byte) }

    private static func spaced(_ rest: Substring.UTF8View) -> String {
        rest.first.map(isSpace) ?? true ? String(Substring(rest)) : " " + String(Substring(rest))
    }

    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}
