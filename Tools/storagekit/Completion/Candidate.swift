/// What may stand at the cursor.
struct Candidate: Equatable, Sendable {
    /// The whole word.
    let text: String
    /// What it is, for shells that show it.
    var about = ""
    /// Whether more of the word follows, so that no space does.
    var isPartial = false
    /// Whether it stands for what is typed although it may be written otherwise, as names of SQL in capitals.
    var isChosen = false

    /// Whether it can be shown and typed in one line.
    var isTypable: Bool { !text.isEmpty && TerminalText.visible(text) == text }

    /// By bytes: letters that Unicode takes for the same are different names.
    func begins(with typed: String) -> Bool { text.utf8.starts(with: typed.utf8) }
}
