/// The content of one cell of a terminal.
struct Cell: Equatable, Sendable {
    /// One grapheme, safe for a terminal; empty for the second column of a wide one.
    var text: String
    var role: Style.Role
    /// Whether foreground and background are swapped, as for a bar or the selected line.
    var isInverse: Bool

    static let blank = Cell(text: " ", role: .plain, isInverse: false)

    /// Whether all terminals agree on its width of one column.
    var isPlain: Bool { text.utf8.allSatisfy { $0 < 0x80 } && !text.isEmpty }
}
