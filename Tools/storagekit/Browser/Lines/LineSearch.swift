import Foundation

/// A text to search lines for. It is case-sensitive only if it contains capitals, as in `less -i`.
struct LineSearch: Equatable, Sendable {
    let text: String

    func matches(_ line: ScreenLine) -> Bool {
        let hasCapitals = text.contains(where: \.isUppercase)
        return line.plain.range(of: text, options: hasCapitals ? [] : [.caseInsensitive]) != nil
    }
}
