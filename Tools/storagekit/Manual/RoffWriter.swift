/// Writes a manual page with the macros of man(7), in ASCII only, so that every formatter can read it.
struct RoffWriter {
    private(set) var text = ""

    /// Writes a request, such as `.SH NAME`.
    mutating func request(_ name: String, _ arguments: String...) {
        let quoted = arguments.map { "\"" + $0.replacing("\"", with: "\\(dq") + "\"" }
        text += ([".\(name)"] + quoted).joined(separator: " ") + "\n"
    }

    /// Writes a line of text that was created by ``escaped(_:)`` or ``bold(_:)``.
    mutating func line(_ line: String) {
        // At the beginning of a line these would be a request.
        let isRequest = line.hasPrefix(".") || line.hasPrefix("'")
        text += (isRequest ? "\\&" : "") + line + "\n"
    }

    mutating func section(_ title: String) { request("SH", Self.escaped(title)) }

    /// Writes paragraphs. Lines that begin with two spaces aren't filled.
    mutating func paragraphs(_ text: String) {
        var isExample = false
        var isOpen = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.allSatisfy(\.isWhitespace) {
                isOpen = false
                continue
            }
            let indented = line.hasPrefix("  ")
            if indented != isExample || !isOpen {
                if isExample {
                    request("EE")
                    request("RE")
                }
                request("PP")
                if indented {
                    request("RS", "4")
                    request("EX")
                }
                isExample = indented
                isOpen = true
            }
            self.line(Self.escaped(indented ? String(line.dropFirst(2)) : String(line)))
        }
        if isExample {
            request("EE")
            request("RE")
        }
    }

    /// Writes a term with its description.
    mutating func term(_ term: String, _ text: String) {
        request("TP")
        line(term)
        line(Self.escaped(text.isEmpty ? " " : text))
    }

    static func bold(_ text: String) -> String { "\\fB\(escaped(text))\\fR" }
    static func italic(_ text: String) -> String { "\\fI\(escaped(text))\\fR" }

    /// Returns text that is output literally: characters that would be a command, or typeset as another character, are written by name.
    static func escaped(_ text: String) -> String {
        var output = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": output += "\\(rs"
            case "-": output += "\\-"
            case "'": output += "\\(aq"
            case "`": output += "\\(ga"
            case "^": output += "\\(ha"
            case "~": output += "\\(ti"
            case _ where scalar.isASCII: output.unicodeScalars.append(scalar)
            default:
                let digits = String(scalar.value, radix: 16, uppercase: true)
                output += "\\[u" + String(repeating: "0", count: max(4 - digits.count, 0)) + digits + "]"
            }
        }
        return output
    }
}
