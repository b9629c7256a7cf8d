/// Checks a caller's SQL fragment: it must be one expression that can be put in parentheses, with a `?` for each value. A
/// fragment that could affect the query around it, or bind its values, is refused.
struct SQLFragment {
    private let bytes: [UInt8]
    private var offset = 0
    private var depth = 0
    private var placeholders = 0
    private var mayReadTables = false

    /// - Throws: ``StorageError`` with `invalid-query` if the text isn't such an expression.
    static func check(_ text: String, values: Int) throws {
        var fragment = SQLFragment(bytes: Array(text.utf8))
        if let problem = fragment.problem() ?? fragment.mismatch(values) {
            throw StorageError(
                .invalidQuery, "The condition \"\(text.prefix(200))\" \(problem).",
                remedy: "Write one SQL expression, with a plain ? for each value.")
        }
    }

    /// Whether an SQL fragment may read tables: it contains a query, or names a table after IN.
    static func mayReadTables(_ text: String) -> Bool {
        var fragment = SQLFragment(bytes: Array(text.utf8))
        _ = fragment.problem()
        return fragment.mayReadTables
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private func mismatch(_ values: Int) -> String? {
        placeholders == values ? nil : "has \(placeholders) placeholders, but \(values) values"
    }

    private mutating func problem() -> String? {
        var isEmpty = true
        while offset < bytes.count {
            let byte = bytes[offset]
            if !Self.isSpace(byte) { isEmpty = false }
            switch byte {
            case 0: return "contains NUL"
            case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"):
                if !skip(to: byte) { return "has a quote that isn't closed" }
            case UInt8(ascii: "["):
                if !skip(to: UInt8(ascii: "]")) { return "has a bracket that isn't closed" }
            case UInt8(ascii: ";"): return "has a semicolon"
            case UInt8(ascii: "-") where next == byte: return "has a comment"
            case UInt8(ascii: "/") where next == UInt8(ascii: "*"): return "has a comment"
            case UInt8(ascii: "("): depth += 1
            case UInt8(ascii: ")"):
                depth -= 1
                if depth < 0 { return "closes a parenthesis that it didn't open" }
            case UInt8(ascii: "?"):
                if let next, Self.isDigit(next) { return "has a numbered placeholder" }
                placeholders += 1
            case UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "$"), UInt8(ascii: "#"):
                return "has a named placeholder"
            case _ where Self.isWord(byte):
                let start = offset
                while let next, Self.isWord(next) || next == UInt8(ascii: "$") { offset += 1 }
                noteWord(bytes[start...offset])
            default: break
            }
            offset += 1
        }
        if isEmpty { return "is empty" }
        return depth == 0 ? nil : "has a parenthesis that isn't closed"
    }

    private mutating func noteWord(_ word: ArraySlice<UInt8>) {
        switch String(decoding: word, as: UTF8.self).uppercased() {
        case "SELECT": mayReadTables = true
        case "IN":
            let behind = bytes[word.endIndex...].first { !Self.isSpace($0) }
            mayReadTables = mayReadTables || behind != UInt8(ascii: "(")
        default: break
        }
    }

    private var next: UInt8? { offset + 1 < bytes.count ? bytes[offset + 1] : nil }

    /// Skips to the closing quotation mark. A doubled mark ends one part and begins the next.
    private mutating func skip(to mark: UInt8) -> Bool {
        offset += 1
        while offset < bytes.count, bytes[offset] != mark { offset += 1 }
        return offset < bytes.count
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 32 || (9...13).contains(byte) }
    private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }
    private static func isWord(_ byte: UInt8) -> Bool {
        isDigit(byte) || (65...90).contains(byte & ~32) || byte == UInt8(ascii: "_") || byte >= 128
    }
}
