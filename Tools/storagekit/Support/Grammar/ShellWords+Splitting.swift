extension ShellWords {
    /// Splits a line into words, with spaces, quotes and backslashes as in a shell; nothing is expanded.
    ///
    /// - Throws: `GrammarError` if a quote isn't closed.
    static func split(_ line: String) throws(GrammarError) -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Character?
        var isEscaped = false
        for character in line {
            if isEscaped {
                word = (word ?? "") + String(character)
                isEscaped = false
            } else if character == "\\", quote != "'" {
                isEscaped = true
            } else if let open = quote {
                if character == open { quote = nil } else { word = (word ?? "") + String(character) }
            } else if character == "'" || character == "\"" {
                quote = character
                word = word ?? ""
            } else if character == " " {
                if let done = word { words.append(done) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        if let quote {
            throw GrammarError(
                problem: "A quote \(quote) isn't closed.", examples: "Write \(quote) after the last word.")
        }
        if let word { words.append(word) }
        return words
    }
}
