/// A token of a statement or condition, split as SQLite does.
package enum SQLToken: Equatable {
    /// A keyword, or a name without quotes.
    case word(String)
    /// A quoted name.
    case name(String)
    case text(String)
    case number(String)
    case symbol(String)

    /// Why a text can't be split into tokens.
    package enum Fault: Error { case comment, openQuote }

    package func isWord(_ word: String) -> Bool {
        if case .word(let own) = self { return own.uppercased() == word }
        return false
    }

    /// - Parameter skipsComments: Whether comments are left out; otherwise they are a fault.
    /// - Throws: ``Fault`` for a text with comments, or one that ends within quotes.
    package static func tokens(of sql: String, skippingComments skipsComments: Bool = false) throws(Fault)
        -> [SQLToken]
    {
        var tokens: [SQLToken] = []
        var rest = Array(sql.utf8)[...]
        while !rest.isEmpty {
            if dropSpace(&rest) {
                continue
            } else if isComment(rest) {
                guard skipsComments else { throw .comment }
                dropComment(&rest)
            } else if let token = popToken(&rest) {
                tokens.append(token)
            } else {
                throw .openQuote
            }
        }
        return tokens
    }

    /// A statement with its semicolon, for a script that SQLite's shell runs: without what follows its last token.
    ///
    /// The shell also ends a statement at a line that is only `/` or `go`, and runs a line after it that begins with a dot. A statement
    /// with such a line is returned without comments and, outside of quotes, without line breaks.
    package static func script(_ sql: String) throws(Fault) -> String {
        let bytes = Array(sql.utf8)
        var rest = bytes[...]
        var end = 0
        var flat: [UInt8] = []
        var flatEnd = 0
        while !rest.isEmpty {
            let start = rest.startIndex
            if dropSpace(&rest) {
                flat.append(UInt8(ascii: " "))
            } else if isComment(rest) {
                dropComment(&rest)
                flat.append(UInt8(ascii: " "))
            } else if let token = popToken(&rest) {
                flat += bytes[start..<rest.startIndex]
                if token != .symbol(";") { (end, flatEnd) = (rest.startIndex, flat.count) }
            } else {
                throw .openQuote
            }
        }
        let isSplit = bytes.split(separator: UInt8(ascii: "\n")).contains(where: endsStatement)
        return String(decoding: isSplit ? flat[..<flatEnd] : bytes[..<end], as: UTF8.self) + ";"
    }

    /// Whether SQLite's shell ends a statement at a line: nothing but white space and comments follows `/` or `go`.
    private static func endsStatement(_ line: ArraySlice<UInt8>) -> Bool {
        let line = line.drop(while: isSpace)
        let isGo = String(decoding: line.prefix(2), as: UTF8.self).lowercased() == "go"
        guard isGo || line.first == UInt8(ascii: "/") else { return false }
        let rest = line.dropFirst(isGo ? 2 : 1).drop(while: isSpace)
        return rest.isEmpty || isComment(rest)
    }

    /// Drops white space, which a byte order mark is to SQLite where no word is before it.
    private static func dropSpace(_ rest: inout ArraySlice<UInt8>) -> Bool {
        if rest.starts(with: [0xEF, 0xBB, 0xBF]) {
            rest.removeFirst(3)
        } else if let byte = rest.first, isSpace(byte) {
            rest.removeFirst()
        } else {
            return false
        }
        return true
    }

    private static func isComment(_ rest: ArraySlice<UInt8>) -> Bool {
        rest.starts(with: "--".utf8) || rest.starts(with: "/*".utf8)
    }

    /// A comment may end with the text.
    private static func dropComment(_ rest: inout ArraySlice<UInt8>) {
        if rest.first == UInt8(ascii: "-") {
            rest = rest.drop { $0 != UInt8(ascii: "\n") }
        } else {
            rest = rest.dropFirst(2)
            while !rest.isEmpty, !rest.starts(with: "*/".utf8) { rest.removeFirst() }
            rest = rest.dropFirst(2)
        }
    }

    private static func popToken(_ rest: inout ArraySlice<UInt8>) -> SQLToken? {
        guard let byte = rest.first else { return nil }
        switch byte {
        case UInt8(ascii: "'"): return quoted(&rest, by: byte).map { .text($0) }
        case UInt8(ascii: "\""), UInt8(ascii: "`"): return quoted(&rest, by: byte).map { .name($0) }
        case UInt8(ascii: "["):
            guard let end = rest.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            defer { rest = rest[(end + 1)...] }
            return .name(String(decoding: rest[(rest.startIndex + 1)..<end], as: UTF8.self))
        case _ where isDigit(byte): return .number(number(&rest))
        case _ where isPartOfWord(byte): return .word(pop(&rest, while: isPartOfWord))
        default:
            for symbol in ["<=", ">=", "<>", "!=", "==", "<<", ">>", "||"] where rest.starts(with: symbol.utf8) {
                rest.removeFirst(2)
                return .symbol(symbol)
            }
            rest.removeFirst()
            return .symbol(String(decoding: [byte], as: UTF8.self))
        }
    }

    /// Digits, a fraction and an exponent; also numbers that SQLite refuses, such as `1_0` or `0x1`.
    private static func number(_ rest: inout ArraySlice<UInt8>) -> String {
        var text = pop(&rest) { isPartOfWord($0) || $0 == UInt8(ascii: ".") }
        if text.lowercased().hasSuffix("e"), let sign = rest.first,
            sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"),
            rest.dropFirst().first.map(isDigit) == true
        {
            rest.removeFirst()
            text += String(decoding: [sign], as: UTF8.self) + pop(&rest, while: isDigit)
        }
        return text
    }

    /// The text in quotes, which are doubled inside it.
    private static func quoted(_ rest: inout ArraySlice<UInt8>, by quote: UInt8) -> String? {
        var bytes: [UInt8] = []
        rest.removeFirst()
        while let byte = rest.popFirst() {
            if byte == quote, rest.first != quote { return String(decoding: bytes, as: UTF8.self) }
            if byte == quote { rest.removeFirst() }
            bytes.append(byte)
        }
        return nil
    }

    private static func pop(_ rest: inout ArraySlice<UInt8>, while isPart: (UInt8) -> Bool) -> String {
        let part = rest.prefix(while: isPart)
        rest = rest[part.endIndex...]
        return String(decoding: part, as: UTF8.self)
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func isPartOfWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...: true
        default: isDigit(byte)
        }
    }
}
