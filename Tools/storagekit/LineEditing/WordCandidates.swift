import Foundation

/// Candidates for the word before the cursor.
struct WordCandidates {
    /// The typed part of the word.
    let typed: String
    /// The words that begin with it, ignoring case, possibly after adding a quotation mark; none that couldn't be shown as it is.
    let words: [String]
    /// The text to add after a complete word.
    let end: String

    init(typed: String, words: [String], end: String = " ") {
        self.typed = typed
        self.words = words.filter { TerminalText.visible($0) == $0 }
        self.end = end
    }

    /// The number of typed characters that the addition replaces, if they are spelled differently.
    var replaces: Int { shared.hasPrefix(typed) || shared.count < typed.count ? 0 : typed.count }

    /// The text to insert; empty if the words have nothing more in common than is typed.
    var addition: String {
        let end = words.count == 1 ? end : ""
        if shared.hasPrefix(typed) { return shared.dropFirst(typed.count) + end }
        return shared.count < typed.count ? "" : words.count == 1 || shared.count > typed.count ? shared + end : ""
    }

    private var shared: String {
        guard let first = words.first else { return "" }
        return words.dropFirst().reduce(first) { $0.commonPrefix(with: $1, options: .caseInsensitive) }
    }

    /// Returns the words in columns, in lines of a width.
    func listing(width: Int) -> String {
        let widest = (words.map { DisplayWidth.of($0) }.max() ?? 0) + 2
        let columns = max(width / widest, 1)
        var text = ""
        for (index, word) in words.enumerated() {
            let isLast = index % columns == columns - 1 || index == words.count - 1
            text += word + (isLast ? "\n" : String(repeating: " ", count: widest - DisplayWidth.of(word)))
        }
        return text
    }
}
