/// One cell of a table for people.
struct TableCell: ExpressibleByStringLiteral, Sendable {
    /// Text that is safe for a terminal.
    let text: String
    let role: Style.Role
    /// The point that the text names; nil for plain text.
    let point: PointArgument?

    init(_ text: String, _ role: Style.Role = .plain) {
        self.text = TerminalText.visible(text)
        self.role = role
        point = nil
    }

    /// A point as it can be typed.
    init(_ point: PointArgument, _ role: Style.Role = .plain) {
        text = TerminalText.visible(point.description)
        self.role = role
        self.point = point
    }

    init(stringLiteral text: String) { self.init(text) }
}
