internal import SwiftParser
internal import SwiftSyntax

extension TokenSyntax {
    /// The name without the backticks that let it be a keyword or hold spaces.
    var bareText: String { identifier?.name ?? trimmed.text }

    /// Whether the name can be a label as it is: any keyword can but these three, and a name with spaces can't.
    var isNameWithoutBackticks: Bool {
        // One more letter makes a keyword an ordinary name, so that this asks for the characters alone.
        (bareText + "x").isValidSwiftIdentifier(for: .variableName) && !["inout", "let", "var"].contains(bareText)
    }
}
