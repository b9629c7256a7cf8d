internal import SwiftParser
internal import SwiftSyntax

extension TokenSyntax {
    /// The name without the backticks that allow it to be a keyword or to contain spaces.
    var bareText: String { identifier?.name ?? trimmed.text }

    /// Whether the name can be a label without backticks: any keyword can except these three, and a name with spaces can't.
    var isNameWithoutBackticks: Bool {
        // One more letter makes a keyword an ordinary name, so that only the characters are checked.
        (bareText + "x").isValidSwiftIdentifier(for: .variableName) && !["inout", "let", "var"].contains(bareText)
    }
}
