/// A row with a line for each of its fields, as psql shows it.
struct VerticalRow {
    private var fields: [(name: String, line: StyledLine)] = []
    private let title: String

    /// - Parameter title: The row's title: `RECORD 1`.
    init(_ title: String) { self.title = title }

    mutating func add(_ name: String, _ value: StyledLine) { fields.append((TerminalText.visible(name), value)) }

    mutating func add(_ name: String, _ value: String, _ role: Style.Role = .plain) {
        if !value.isEmpty { add(name, StyledLine(value, role)) }
    }

    /// Values are never truncated, which is the purpose of this form.
    func lines() -> [StyledLine] {
        let widest = fields.map { DisplayWidth.of($0.name) }.max() ?? 0
        return [StyledLine("-[ \(title) ]-", .heading)]
            + fields.map { name, value in
                var line = StyledLine(shown: name + String(repeating: " ", count: widest - DisplayWidth.of(name)), .dim)
                line.add(" | ")
                line.add(value)
                return line
            }
    }
}
