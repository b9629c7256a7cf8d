/// Reading JSON strings.
extension JSONReader {
    /// Skips a string and validates its escapes.
    mutating func skipString() throws(Malformed) {
        guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") else { throw malformed("a text is expected") }
        index += 1
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""):
                index += 1
                return
            case UInt8(ascii: "\\"): try skipEscape()
            case 0..<0x20: throw malformed("a text has a control character that isn't written as an escape")
            default: index += 1
            }
        }
        throw malformed("the end of a text is missing")
    }

    private mutating func skipEscape() throws(Malformed) {
        let start = index
        guard index + 1 < bytes.count else { throw malformed("the end of a text is missing") }
        index += 2
        switch bytes[index - 1] {
        case UInt8(ascii: "u"): break
        case let escape where Self.escapes[escape] != nil: return
        default: throw malformed("a text has an escape that JSON doesn't know", at: start)
        }
        let unit = try skipCodeUnit()
        guard UTF16.isSurrogate(unit) else { return }
        guard UTF16.isLeadSurrogate(unit), bytes[index...].starts(with: [UInt8(ascii: "\\"), UInt8(ascii: "u")]) else {
            throw malformed("a text has half a surrogate pair", at: start)
        }
        index += 2
        guard UTF16.isTrailSurrogate(try skipCodeUnit()) else {
            throw malformed("a text has half a surrogate pair", at: start)
        }
    }

    private mutating func skipCodeUnit() throws(Malformed) -> UInt16 {
        guard let unit = Self.codeUnit(bytes[index...].prefix(4)) else {
            throw malformed("an escape \\u needs four hexadecimal digits")
        }
        index += 4
        return unit
    }

    /// Decodes the content between the quotes of a string that ``skipString()`` has accepted.
    static func unescaped(_ quoted: ArraySlice<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(quoted.count)
        var units: [UInt16] = []
        var rest = quoted
        while let byte = rest.popFirst() {
            let escape = byte == UInt8(ascii: "\\") ? rest.popFirst() : nil
            if escape == UInt8(ascii: "u"), let unit = codeUnit(rest.prefix(4)) {
                rest.removeFirst(4)
                units.append(unit)
                // Half of a pair waits for the other half.
                guard !UTF16.isLeadSurrogate(unit) else { continue }
                text += String(decoding: units, as: UTF16.self).utf8
                units = []
            } else {
                text.append(escape.flatMap { escapes[$0] } ?? byte)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static let escapes: [UInt8: UInt8] = [
        UInt8(ascii: "\""): UInt8(ascii: "\""), UInt8(ascii: "\\"): UInt8(ascii: "\\"),
        UInt8(ascii: "/"): UInt8(ascii: "/"),
        UInt8(ascii: "b"): 0x08, UInt8(ascii: "f"): 0x0C, UInt8(ascii: "n"): 0x0A, UInt8(ascii: "r"): 0x0D,
        UInt8(ascii: "t"): 0x09,
    ]

    private static func codeUnit(_ digits: ArraySlice<UInt8>) -> UInt16? {
        guard digits.count == 4, digits.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }) else {
            return nil
        }
        return UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
    }
}
