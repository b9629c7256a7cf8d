import Foundation

/// What may stand in place of the word before the cursor.
struct WordCandidates {
    /// The word as far as it is typed.
    let typed: String
    /// Those that begin with it, whatever its case, or do so once they are in quotation marks.
    let words: [String]
    /// What follows a word that is whole.
    var end = " "

    /// How many characters of the line the addition stands for: those that are written otherwise.
    var replaces: Int { shared.hasPrefix(typed) || shared.count < typed.count ? 0 : typed.count }

    /// What is to be typed; empty where the words have no more in common.
    var addition: String {
        let end = words.count == 1 ? end : ""
        if shared.hasPrefix(typed) { return shared.dropFirst(typed.count) + end }
        return shared.count < typed.count ? "" : words.count == 1 || shared.count > typed.count ? shared + end : ""
    }

    private var shared: String {
        guard let first = words.first else { return "" }
        return words.dropFirst().reduce(first) { $0.commonPrefix(with: $1, options: .caseInsensitive) }
    }

    /// The words in lines of a width.
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
