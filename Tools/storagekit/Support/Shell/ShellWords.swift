/// Words of a command line as a POSIX shell reads them.
enum ShellWords {
    /// A word as it is typed: in quotes where it would mean something else without.
    static func quoted(_ word: String) -> String {
        let isPlain =
            !word.isEmpty && word.allSatisfy { $0.isLetter || $0.isNumber || "/._-+,@:=%".contains($0) }
        return isPlain ? word : "'\(word.replacing("'", with: "'\\''"))'"
    }

    static func line(_ words: [String]) -> String { words.map(quoted).joined(separator: " ") }
}
