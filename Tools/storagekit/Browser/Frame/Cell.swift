/// What one column of one row of a terminal shows.
struct Cell: Equatable, Sendable {
    /// One character as people see it, fit for a terminal; empty for the second column of a wide one.
    var text: String
    var role: Style.Role
    /// Whether foreground and background are swapped, as of a bar or the selected line.
    var isInverse: Bool

    static let blank = Cell(text: " ", role: .plain, isInverse: false)

    /// Whether terminals may disagree about how many columns it takes.
    var isPlain: Bool { text.utf8.allSatisfy { $0 < 0x80 } && !text.isEmpty }
}
