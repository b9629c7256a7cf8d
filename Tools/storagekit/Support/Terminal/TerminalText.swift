/// Makes stored text safe for a terminal.
enum TerminalText {
    /// Returns text with control characters shown as escapes.
    ///
    /// Stored text could otherwise move the cursor, change colours, reorder the text (bidirectional overrides), or hide characters. The joiners
    /// U+200C and U+200D are left, because words and emoji need them.
    static func visible(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isUnfit) else { return text }
        var output = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n": output += "\\n"
            case "\t": output += "\\t"
            case "\r": output += "\\r"
            case _ where isUnfit(scalar): output += "\\u{\(String(scalar.value, radix: 16))}"
            default: output.unicodeScalars.append(scalar)
            }
        }
        return output
    }

    private static func isUnfit(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7f..<0xa0: true
        case 0x2028...0x202e, 0x2060...0x206f, 0x200b, 0x200e, 0x200f, 0x061c, 0x180e, 0xfeff, 0xfff9...0xfffb, 0xad,
            0x34f,
            0x115f, 0x1160, 0x17b4, 0x17b5, 0x3164, 0xffa0, 0xe0001:
            true
        default: false
        }
    }
}
