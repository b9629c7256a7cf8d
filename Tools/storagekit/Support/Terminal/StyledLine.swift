/// A line for people, made of parts with a colour each.
struct StyledLine {
    private var parts: [(text: String, role: Style.Role)] = []

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

    /// - Parameter width: where the line is cut; nil if it isn't.
    func rendered(_ style: Style, width: Int?) -> String {
        var left = width ?? Int.max
        let isCut = width.map { limit in parts.reduce(0) { $0 + DisplayWidth.of($1.text) } > limit } ?? false
        var output = ""
        for part in parts where left > 0 {
            let length = DisplayWidth.of(part.text)
            // Where the line is cut, something must be left for the ellipsis.
            let text = isCut && length >= left ? DisplayWidth.truncated(part.text + " ", to: left) : part.text
            output += style.apply(part.role, to: text)
            left -= length
        }
        return output
    }
}
