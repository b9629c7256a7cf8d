/// Writes frames to a terminal: only the rows that differ from what it shows.
struct FrameWriter {
    private let style: Style
    private var shown: Frame?

    init(_ style: Style) { self.style = style }

    /// Discards the known content of the terminal, for example after another program has written to it.
    mutating func forget() { shown = nil }

    /// The bytes that make the terminal show a frame.
    mutating func text(of frame: Frame) -> String {
        guard frame != shown else { return "" }
        var text = "\u{1b}[?25l"
        let isOther = shown?.size != frame.size
        if isOther { text += "\u{1b}[0m\u{1b}[2J" }
        for (index, row) in frame.rows.enumerated() where isOther || shown?.rows[index] != row {
            text += "\u{1b}[\(index + 1);1H" + render(row)
        }
        if let cursor = frame.cursor { text += "\u{1b}[\(cursor.row + 1);\(cursor.column + 1)H\u{1b}[?25h" }
        shown = frame
        return text
    }

    private func render(_ row: [Cell]) -> String {
        var text = ""
        var attributes = ""
        var needsMove = false
        for (column, cell) in row.enumerated() where !cell.text.isEmpty {
            // Terminals disagree on the width of some characters, so the cursor is positioned explicitly after each of those.
            if needsMove { text += "\u{1b}[\(column + 1)G" }
            needsMove = !cell.isPlain
            let wanted = self.attributes(cell)
            if wanted != attributes {
                text += "\u{1b}[0\(wanted)m"
                attributes = wanted
            }
            text += cell.text
        }
        return text + (attributes.isEmpty ? "" : "\u{1b}[0m")
    }

    /// Inverse video isn't a colour: it marks bars even without colours.
    private func attributes(_ cell: Cell) -> String {
        let code = style.isColored ? cell.role.code.map { ";\($0)" } ?? "" : ""
        return code + (cell.isInverse ? ";7" : "")
    }
}
