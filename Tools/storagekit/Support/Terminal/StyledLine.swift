/// A line for people, made of parts with a colour each.
struct StyledLine: Sendable {
    /// Its texts, fit for a terminal.
    private(set) var parts: [(text: String, role: Style.Role)] = []

    /// The text without its colours.
    var plain: String { parts.map(\.text).joined() }

    init() {}

    init(_ text: String, _ role: Style.Role = .plain) { add(text, role) }

    /// Adds text after what is there. Control characters in it are shown as escapes.
    mutating func add(_ text: String, _ role: Style.Role = .plain) {
        if !text.isEmpty { parts.append((TerminalText.visible(text), role)) }
    }

    /// Adds what another line holds.
    mutating func add(_ line: StyledLine) { parts += line.parts }

    /// Adds text so that it is set off from what is there.
    mutating func addWord(_ text: String, _ role: Style.Role = .plain) {
        guard !text.isEmpty else { return }
        if !parts.isEmpty { add("  ") }
        add(text, role)
    }

    /// The same in one colour.
    func with(_ role: Style.Role) -> StyledLine { StyledLine(plain, role) }

    /// As much of it as fits into a width; what is cut is marked by an ellipsis.
    func clipped(to width: Int) -> StyledLine {
        guard DisplayWidth.of(plain) > width else { return self }
        var left = width
        var output = StyledLine()
        for part in parts where left > 0 {
            let length = DisplayWidth.of(part.text)
            // Something must be left for the ellipsis.
            output.add(length >= left ? DisplayWidth.truncated(part.text + " ", to: left) : part.text, part.role)
            left -= length
        }
        return output
    }

    /// - Parameter width: where the line is cut; nil if it isn't.
    func rendered(_ style: Style, width: Int?) -> String {
        (width.map(clipped) ?? self).parts.reduce("") { $0 + style.apply($1.role, to: $1.text) }
    }
}
