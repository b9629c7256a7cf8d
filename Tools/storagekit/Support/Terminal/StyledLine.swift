/// A line for people: parts with a colour each, some of which are links.
struct StyledLine: Sendable {
    struct Part: Sendable {
        /// Text that is safe for a terminal.
        let text: String
        let role: Style.Role
        /// The point that the text names; nil for plain text.
        var point: PointArgument?
    }

    private(set) var parts: [Part] = []

    /// The text without its colours.
    var plain: String { parts.map(\.text).joined() }

    init() {}

    init(_ text: String, _ role: Style.Role = .plain) { add(text, role) }

    init(_ point: PointArgument, _ role: Style.Role = .plain) { add(point, role) }

    init(shown text: String, _ role: Style.Role = .plain) { add(shown: text, role) }

    /// Appends text. Control characters in it become visible.
    ///
    /// - Parameter point: The point that the text names, if any.
    mutating func add(_ text: String, _ role: Style.Role = .plain, point: PointArgument? = nil) {
        add(shown: TerminalText.visible(text), role, point: point)
    }

    /// Appends text that `TerminalText` has returned: that of a cell, or of another line.
    mutating func add(shown text: String, _ role: Style.Role = .plain, point: PointArgument? = nil) {
        if !text.isEmpty { parts.append(Part(text: text, role: role, point: point)) }
    }

    /// Adds a point as it can be typed.
    mutating func add(_ point: PointArgument, _ role: Style.Role = .plain) {
        add(point.description, role, point: point)
    }

    /// Appends another line.
    mutating func add(_ line: StyledLine) { parts += line.parts }

    /// Appends text, separated from the text before.
    mutating func addWord(_ text: String, _ role: Style.Role = .plain) {
        guard !text.isEmpty else { return }
        if !parts.isEmpty { add("  ") }
        add(text, role)
    }

    mutating func addWord(_ point: PointArgument, _ role: Style.Role = .plain) {
        if !parts.isEmpty { add("  ") }
        add(point, role)
    }

    /// Returns the line in one colour.
    func with(_ role: Style.Role) -> StyledLine { StyledLine(shown: plain, role) }

    /// Returns the line truncated to a width, marked by an ellipsis.
    func clipped(to width: Int) -> StyledLine {
        guard DisplayWidth.of(plain) > width else { return self }
        var left = width
        var output = StyledLine()
        for part in parts where left > 0 {
            let length = DisplayWidth.of(part.text)
            // Leaves room for the ellipsis.
            output.add(
                shown: length >= left ? DisplayWidth.truncated(part.text + " ", to: left) : part.text, part.role,
                point: part.point)
            left -= length
        }
        return output
    }

    /// - Parameter width: The width at which the line is truncated; nil to keep it whole.
    func rendered(_ style: Style, width: Int?) -> String {
        var output = ""
        var (run, role) = ("", Style.Role.plain)
        // Adjacent parts of one colour are joined to one text, in which some words may be links.
        for part in (width.map(clipped) ?? self).parts {
            if part.role != role {
                output += style.apply(role, to: run)
                (run, role) = ("", part.role)
            }
            run += style.linked(part.text, to: part.point)
        }
        return output + style.apply(role, to: run)
    }
}
