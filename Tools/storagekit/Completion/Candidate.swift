/// A completion for the word at the cursor.
struct Candidate: Equatable, Sendable {
    /// The whole word.
    let text: String
    /// A description, for shells that show it.
    var about = ""
    /// Whether the word is incomplete, so that no space follows it.
    var isPartial = false
    /// Whether it matches although its spelling may differ from the typed text, such as SQL names in other case.
    var isChosen = false

    /// Whether it can be shown and typed in one line.
    var isTypable: Bool { !text.isEmpty && TerminalText.visible(text) == text }

    /// Compares bytes, because names that Unicode considers equivalent differ here.
    func begins(with typed: String) -> Bool { text.utf8.starts(with: typed.utf8) }
}
