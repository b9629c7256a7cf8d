/// A part of a statement's text.
enum SQLToken: Equatable {
    /// A keyword, or a name without quotes.
    case word(String)
    /// A name in quotes.
    case name(String)
    case text(String)
    case number(String)
    case symbol(String)

    func isWord(_ word: String) -> Bool {
        if case .word(let own) = self { return own.uppercased() == word }
        return false
    }

    /// - Returns: Nil for a text with comments, or one that ends in the middle of something.
    static func tokens(of sql: String) -> [SQLToken]? {
        var tokens: [SQLToken] = []
        var rest = Array(sql.utf8)[...]
        while let byte = rest.first {
            if isSpace(byte) {
                rest.removeFirst()
            } else if rest.starts(with: "--".utf8) || rest.starts(with: "/*".utf8) {
                return nil
            } else if let token = popToken(&rest) {
                tokens.append(token)
            } else {
                return nil
            }
        }
        return tokens
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
        case _ where isDigit(byte): return .number(pop(&rest) { isPartOfWord($0) || $0 == UInt8(ascii: ".") })
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

    /// What stands in quotes, which are doubled inside.
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
