/// The content of a terminal: one row of cells for each of its rows, one cell for each column.
struct Frame: Equatable, Sendable {
    let size: FrameSize
    private(set) var rows: [[Cell]]
    /// The position of the cursor, from zero; nil if no text is being typed.
    var cursor: (row: Int, column: Int)?

    init(_ size: FrameSize) {
        self.size = size
        rows = Array(repeating: Array(repeating: .blank, count: max(size.columns, 0)), count: max(size.rows, 0))
    }

    /// Sets a whole row.
    ///
    /// - Parameters:
    ///   - start: The number of columns to skip at the left of the line.
    ///   - lead: ASCII text before the line, which isn't skipped.
    ///   - isInverse: Whether the whole row is inverse.
    mutating func draw(
        _ line: StyledLine, row: Int, lead: String = "", from start: Int = 0, isInverse: Bool = false
    ) {
        guard rows.indices.contains(row) else { return }
        let lead = lead.prefix(size.columns).map { Cell(text: String($0), role: .heading, isInverse: isInverse) }
        var cells = CellLine(width: size.columns - lead.count, skipping: start)
        for part in line.parts where !cells.isFull { cells.add(part.text, part.role, isInverse: isInverse) }
        rows[row] = lead + cells.padded(with: Cell(text: " ", role: .plain, isInverse: isInverse))
    }

    /// The rows as text, without spaces at their ends.
    var text: [String] {
        rows.map { row in
            let text = row.map(\.text).joined()
            return String(text.reversed().drop { $0 == " " }.reversed())
        }
    }

    static func == (left: Frame, right: Frame) -> Bool {
        left.size == right.size && left.rows == right.rows && left.cursor?.row == right.cursor?.row
            && left.cursor?.column == right.cursor?.column
    }
}
