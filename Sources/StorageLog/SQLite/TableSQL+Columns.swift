internal import StorageCore

extension TableSQL {
    /// A column's definition as `CREATE TABLE` has it, with all its constraints, so that it fits `ADD COLUMN`; nil if the text has
    /// no such column.
    package static func definition(ofColumn name: String, in sql: String) -> String? {
        guard var rest = afterName(in: sql) else { return nil }
        var depth = 0
        // Where the definition begins, and the end of its last word: a comment around it isn't a part of it.
        var bounds: Range<String.Index>?
        while let byte = rest.first {
            guard let next = afterToken(rest) else { return nil }
            let token = rest.startIndex..<next.startIndex
            let isComment = beginsComment(rest)
            rest = next
            if isComment || isSpace(byte) { continue }
            if byte == UInt8(ascii: ")") { depth -= 1 }
            if depth == 0 || depth == 1 && byte == UInt8(ascii: ",") {
                if let bounds, isName(sql.utf8[bounds], name) { return String(Substring(sql.utf8[bounds])) }
                bounds = nil
            } else {
                bounds = (bounds?.lowerBound ?? token.lowerBound)..<token.upperBound
            }
            if byte == UInt8(ascii: "(") { depth += 1 }
        }
        return nil
    }

    /// What follows a quoted text, a comment or a single byte at the beginning; nil if it doesn't end.
    private static func afterToken(_ text: Substring.UTF8View) -> Substring.UTF8View? {
        guard let first = text.first else { return nil }
        if isQuote(first) { return afterQuoted(text) }
        guard beginsComment(text) else { return text.dropFirst() }
        guard first == UInt8(ascii: "/") else { return text.drop { $0 != UInt8(ascii: "\n") } }
        var rest = text.dropFirst(2)
        while !rest.isEmpty, !rest.starts(with: "*/".utf8) { rest = rest.dropFirst() }
        return rest.dropFirst(2)
    }

    private static func beginsComment(_ text: Substring.UTF8View) -> Bool {
        text.starts(with: "--".utf8) || text.starts(with: "/*".utf8)
    }

    /// Whether a definition begins with a name, quoted or not. SQLite folds its case.
    private static func isName(_ definition: Substring.UTF8View, _ name: String) -> Bool {
        guard let first = definition.first else { return false }
        guard isQuote(first) else {
            let word = definition.prefix { byte in
                byte >= 0x80 || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$")
                    || Character(Unicode.Scalar(byte)).isLetter || Character(Unicode.Scalar(byte)).isNumber
            }
            return String(Substring(word)).folded == name.folded
        }
        guard let rest = afterQuoted(definition) else { return false }
        let inside = definition[definition.index(after: definition.startIndex)..<rest.startIndex].dropLast()
        var bytes: [UInt8] = []
        var isDoubled = false
        for byte in inside {
            // Of a doubled quote, one counts.
            isDoubled = byte == first && first != UInt8(ascii: "[") && !isDoubled
            if !isDoubled { bytes.append(byte) }
        }
        return String(decoding: bytes, as: UTF8.self).folded == name.folded
    }
}
