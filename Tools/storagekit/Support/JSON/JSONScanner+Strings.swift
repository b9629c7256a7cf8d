import StorageCore

extension JSONScanner {
    /// Reads text after its opening quote. Without escapes the result is a slice of the line.
    mutating func string() throws(InputError) -> ByteSlice {
        let start = position
        while true {
            position = endOfPlainRun(position)
            guard position < end else { throw endOfText() }
            switch base[position] {
            case UInt8(ascii: "\""):
                position += 1
                return slice(start, position - 1)
            case UInt8(ascii: "\\"): return try unescapedString(from: start)
            default: try skipScalar()
            }
        }
    }

    /// Continues with text in which an escape was found; the result is in the scanner's own memory.
    private mutating func unescapedString(from start: Int) throws(InputError) -> ByteSlice {
        let first = scratchUsed
        copyToScratch(start, position)
        while true {
            let run = position
            position = endOfPlainRun(position)
            copyToScratch(run, position)
            guard position < end else { throw endOfText() }
            switch base[position] {
            case UInt8(ascii: "\""):
                position += 1
                return ByteSlice(start: scratch + first, count: scratchUsed - first)
            case UInt8(ascii: "\\"): try escape()
            default:
                let scalar = position
                try skipScalar()
                copyToScratch(scalar, position)
            }
        }
    }

    @inline(__always)
    private func endOfPlainRun(_ from: Int) -> Int {
        PlainRun.end(in: base, from: from, to: end, stopsAtNonASCII: true)
    }

    @inline(__always)
    private mutating func copyToScratch(_ from: Int, _ to: Int) {
        (scratch + scratchUsed).update(from: base + from, count: to - from)
        scratchUsed += to - from
    }

    /// Skips one character outside ASCII (the Unicode Standard, table 3-7), or throws if it is malformed.
    private mutating func skipScalar() throws(InputError) {
        let lead = base[position]
        let second: ClosedRange<UInt8>
        let length: Int
        switch lead {
        case 0xc2...0xdf: (length, second) = (2, 0x80...0xbf)
        case 0xe0: (length, second) = (3, 0xa0...0xbf)
        case 0xed: (length, second) = (3, 0x80...0x9f)
        case 0xe1...0xef: (length, second) = (3, 0x80...0xbf)
        case 0xf0: (length, second) = (4, 0x90...0xbf)
        case 0xf1...0xf3: (length, second) = (4, 0x80...0xbf)
        case 0xf4: (length, second) = (4, 0x80...0x8f)
        case 0..<0x20:
            throw fail(
                "there is a control character in the text", "Write it as an escape, such as \\n, \\t or \\u001b.")
        default: throw notUTF8()
        }
        guard position + length <= end, second.contains(base[position + 1]) else { throw notUTF8() }
        for index in 2..<max(length, 2) where base[position + index] & 0xc0 != 0x80 { throw notUTF8() }
        position += length
    }

    /// Resolves the escape at `position`, a backslash.
    private mutating func escape() throws(InputError) {
        guard position + 1 < end else { throw endOfText() }
        let resolved: UInt8
        switch base[position + 1] {
        case UInt8(ascii: "n"): resolved = 0x0a
        case UInt8(ascii: "\""): resolved = UInt8(ascii: "\"")
        case UInt8(ascii: "\\"): resolved = UInt8(ascii: "\\")
        case UInt8(ascii: "/"): resolved = UInt8(ascii: "/")
        case UInt8(ascii: "t"): resolved = 0x09
        case UInt8(ascii: "r"): resolved = 0x0d
        case UInt8(ascii: "b"): resolved = 0x08
        case UInt8(ascii: "f"): resolved = 0x0c
        case UInt8(ascii: "u"): return try unicodeEscape()
        default:
            throw fail(
                "this escape doesn't exist", "Escapes are \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\u with four digits.")
        }
        position += 2
        scratch[scratchUsed] = resolved
        scratchUsed += 1
    }

    private mutating func unicodeEscape() throws(InputError) {
        let start = position
        var code = try hexadecimal(at: position + 2)
        position += 6
        switch code {
        case 0:
            throw fail(
                "NUL can't be stored in text", "Remove \\u0000, or give the value as {\"$blob\":\"base64\"}.", at: start
            )
        case 0xd800...0xdbff:
            guard position + 1 < end, base[position] == UInt8(ascii: "\\"), base[position + 1] == UInt8(ascii: "u")
            else {
                throw loneSurrogate(at: start)
            }
            let low = try hexadecimal(at: position + 2)
            guard (0xdc00...0xdfff).contains(low) else { throw loneSurrogate(at: start) }
            position += 6
            code = 0x10000 + (code - 0xd800) << 10 + (low - 0xdc00)
        case 0xdc00...0xdfff: throw loneSurrogate(at: start)
        default: break
        }
        appendUTF8(code)
    }

    private func hexadecimal(at index: Int) throws(InputError) -> UInt32 {
        var code: UInt32 = 0
        for offset in index..<index + 4 {
            guard offset < end else { throw endOfText() }
            let digit: UInt8
            switch base[offset] {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = base[offset] - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = base[offset] - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = base[offset] - UInt8(ascii: "A") + 10
            default:
                throw fail("\\u needs four hexadecimal digits", "Write for example \\u00e9.", at: offset)
            }
            code = code << 4 | UInt32(digit)
        }
        return code
    }

    private mutating func appendUTF8(_ code: UInt32) {
        let lead: UInt32
        let continuations: UInt32
        switch code {
        case ..<0x80: (lead, continuations) = (code, 0)
        case ..<0x800: (lead, continuations) = (0xc0 | code >> 6, 1)
        case ..<0x10000: (lead, continuations) = (0xe0 | code >> 12, 2)
        default: (lead, continuations) = (0xf0 | code >> 18, 3)
        }
        scratch[scratchUsed] = UInt8(truncatingIfNeeded: lead)
        scratchUsed += 1
        var rest = continuations
        while rest > 0 {
            rest -= 1
            scratch[scratchUsed] = UInt8(truncatingIfNeeded: 0x80 | (code >> (6 * rest) & 0x3f))
            scratchUsed += 1
        }
    }

    private func endOfText() -> InputError {
        fail("the line ends inside text", "Close the text with a double quote; a line break in text is \\n.", at: end)
    }

    private func notUTF8() -> InputError {
        fail("this isn't UTF-8", "Convert the file to UTF-8, or give the value as {\"$blob\":\"base64\"}.")
    }

    private func loneSurrogate(at offset: Int) -> InputError {
        fail(
            "a lone surrogate isn't a character", "Write characters beyond U+FFFF as a pair, such as \\ud83d\\ude00.",
            at: offset)
    }
}
