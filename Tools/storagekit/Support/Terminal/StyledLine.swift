/// A line for people, made of parts with a colour each, some of which may be clicked.
struct StyledLine: Sendable {
    struct Part: Sendable {
        /// Fit for a terminal.
        let text: String
        let role: Style.Role
        /// What the text names; nil for text alone.
        var point: PointArgument?
    }

    private(set) var parts: [Part] = []

    /// The text without its colours.
    var plain: String { parts.map(\.text).joined() }

    init() {}

    init(_ text: String, _ role: Style.Role = .plain) { add(text, role) }

    init(_ point: PointArgument, _ role: Style.Role = .plain) { add(point, role) }

    /// Adds text after what is there. Control characters in it are shown as escapes.
    ///
    /// - Parameter point: What the text names, where it names one.
    mutating func add(_ text: String, _ role: Style.Role = .plain, point: PointArgument? = nil) {
        if !text.isEmpty { parts.append(Part(text: TerminalText.visible(text), role: role, point: point)) }
    }

    /// Adds a point as it can be typed.
    mutating func add(_ point: PointArgument, _ role: Style.Role = .plain) {
        add(point.description, role, point: point)
    }

    /// Adds what another line holds.
    mutating func add(_ line: StyledLine) { parts += line.parts }

    /// Adds text so that it is set off from what is there.
    mutating func addWord(_ text: String, _ role: Style.Role = .plain) {
        guard !text.isEmpty else { return }
        if !parts.isEmpty { add("  ") }
        add(text, role)
    }

    mutating func addWord(_ point: PointArgument, _ role: Style.Role = .plain) {
        if !parts.isEmpty { add("  ") }
        add(point, role)
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
            output.add(
                length >= left ? DisplayWidth.truncated(part.text + " ", to: left) : part.text, part.role,
                point: part.point)
            left -= length
        }
        return output
    }

    /// - Parameter width: where the line is cut; nil if it isn't.
    func rendered(_ style: Style, width: Int?) -> String {
        var output = ""
        var (run, role) = ("", Style.Role.plain)
        // Neighbours of one colour are one text, in which some words may be links.
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
