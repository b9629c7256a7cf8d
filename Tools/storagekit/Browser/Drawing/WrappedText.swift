/// Wraps text to a width.
enum WrappedText {
    /// Breaks lines at spaces, and inside words that are longer than a line. Control characters become visible.
    static func lines(_ text: String, width: Int) -> [String] {
        let width = max(width, 2)
        var lines: [String] = []
        var line = ""
        for word in TerminalText.visible(text).split(separator: " ", omittingEmptySubsequences: false) {
            let joined = line.isEmpty ? String(word) : line + " " + word
            guard DisplayWidth.of(joined) > width else {
                line = joined
                continue
            }
            if !line.isEmpty { lines.append(line) }
            line = ""
            for character in word {
                if DisplayWidth.of(line) + DisplayWidth.of(character) > width {
                    lines.append(line)
                    line = ""
                }
                line.append(character)
            }
        }
        if !line.isEmpty || lines.isEmpty { lines.append(line) }
        return lines
    }
}
