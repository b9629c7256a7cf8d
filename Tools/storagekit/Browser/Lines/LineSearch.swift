import Foundation

/// A text that lines are searched for. Case counts only where it has capitals, as in `less -i`.
struct LineSearch: Equatable, Sendable {
    let text: String

    func matches(_ line: ScreenLine) -> Bool {
        let hasCapitals = text.contains(where: \.isUppercase)
        return line.plain.range(of: text, options: hasCapitals ? [] : [.caseInsensitive]) != nil
    }
}
