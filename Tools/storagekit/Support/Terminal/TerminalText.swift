/// Makes stored text safe for a terminal.
enum TerminalText {
    /// Returns text with control characters as their symbols, `␊` for a line break, and other invisible ones as `<U+202E>`.
    ///
    /// Stored text could otherwise move the cursor, change colours, reorder the text (bidirectional overrides), or hide characters. The joiners
    /// U+200C and U+200D are left, because words and emoji need them, and a variation selector that belongs to an emoji.
    ///
    /// Different texts look different. A backslash is always one, as paths and regular expressions have it, so a symbol isn't a
    /// `\n` that someone wrote; and where the text itself has a symbol or `<U+`, that is shown by its number too. What is
    /// returned must therefore not be passed again.
    static func visible(_ text: String) -> String {
        let scalars = text.unicodeScalars
        guard scalars.contains(where: { isUnfit($0) || $0 == "<" }) else { return text }
        var output = ""
        var index = scalars.startIndex
        while index < scalars.endIndex {
            let scalar = scalars[index]
            if let symbol = symbol(of: scalar) {
                output.unicodeScalars.append(symbol)
            } else if isUnfit(scalar) && !isPresentation(scalar, behind: output.unicodeScalars.last)
                || scalars[index...].starts(with: mark.unicodeScalars)
            {
                output += code(of: scalar)
            } else {
                output.unicodeScalars.append(scalar)
            }
            index = scalars.index(after: index)
        }
        return output
    }

    /// The beginning of a number.
    private static let mark = "<U+"

    /// Returns `<U+202E>`, as less shows it.
    private static func code(of scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return mark + String(repeating: "0", count: max(4 - digits.count, 0)) + digits + ">"
    }

    /// The picture of a control character of ASCII (the Unicode block Control Pictures); nil for other characters.
    private static func symbol(of scalar: Unicode.Scalar) -> Unicode.Scalar? {
        switch scalar.value {
        case 0..<0x20: Unicode.Scalar(0x2400 + scalar.value)
        case 0x7f: "\u{2421}"
        default: nil
        }
    }

    private static func isUnfit(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x200c, 0x200d: false
        case 0x2400...0x2421: true
        default: scalar.isInvisible
        }
    }

    /// Whether it chooses how an emoji is drawn, as text or in colours.
    private static func isPresentation(_ scalar: Unicode.Scalar, behind last: Unicode.Scalar?) -> Bool {
        guard scalar.value == 0xfe0e || scalar.value == 0xfe0f, let last else { return false }
        // Digits count as emoji, because those of keys begin with one.
        return last.properties.isEmoji && !last.isASCII
    }
}
