/// One cell of a table for people.
struct TableCell: ExpressibleByStringLiteral, Sendable {
    let text: String
    let role: Style.Role

    init(_ text: String, _ role: Style.Role = .plain) {
        self.text = TerminalText.visible(text)
        self.role = role
    }

    init(stringLiteral text: String) { self.init(text) }
}
