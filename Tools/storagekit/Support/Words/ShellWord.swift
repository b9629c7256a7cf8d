/// Words of a command that somebody is to type.
enum ShellWord {
    /// The word as a shell reads it, in quotes only where it needs them.
    static func quoted(_ word: String) -> String {
        let isPlain = !word.isEmpty && word.allSatisfy { $0.isLetter || $0.isNumber || "/._-+,@:=".contains($0) }
        return isPlain ? word : "'\(word.replacing("'", with: "'\\''"))'"
    }
}
