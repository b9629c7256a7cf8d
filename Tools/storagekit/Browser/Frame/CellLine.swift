/// Text laid out in cells, cut where they end.
struct CellLine {
    private let width: Int
    /// Columns that are still to be left out.
    private var skipped: Int
    private var cells: [Cell] = []
    private var isCut = false

    /// So many combining marks are shown on one character; more are noise, or meant to do harm.
    private static let markLimit = 8

    init(width: Int, skipping skipped: Int) {
        self.width = width
        self.skipped = skipped
        cells.reserveCapacity(width)
    }

    var isFull: Bool { isCut }

    /// Adds text that is fit for a terminal. What takes no column of its own is left out.
    mutating func add(_ text: String, _ role: Style.Role, isInverse: Bool) {
        for character in text {
            let columns = DisplayWidth.of(character)
            guard columns > 0 else { continue }
            if skipped > 0 {
                skipped -= columns
                // Half of a wide character is a space.
                if skipped < 0 { cells.append(Cell(text: " ", role: role, isInverse: isInverse)) }
                skipped = max(skipped, 0)
                continue
            }
            guard cells.count + columns <= width else {
                isCut = true
                return
            }
            cells.append(Cell(text: Self.bounded(character), role: role, isInverse: isInverse))
            if columns == 2 { cells.append(Cell(text: "", role: role, isInverse: isInverse)) }
        }
    }

    /// The cells, as many as the line is wide; what was cut is marked by an ellipsis.
    func padded(with blank: Cell) -> [Cell] {
        var cells = cells
        if isCut, width > 0 {
            cells = Array(cells.prefix(width - 1))
            // A wide character can't be cut in half.
            if let last = cells.last, DisplayWidth.of(last.text) == 2 { cells[cells.count - 1] = blank }
            cells += Array(repeating: blank, count: max(width - 1 - cells.count, 0))
            cells.append(Cell(text: "…", role: .dim, isInverse: blank.isInverse))
        }
        return cells + Array(repeating: blank, count: max(width - cells.count, 0))
    }

    private static func bounded(_ character: Character) -> String {
        guard character.unicodeScalars.count > markLimit else { return String(character) }
        var text = ""
        text.unicodeScalars.append(contentsOf: character.unicodeScalars.prefix(markLimit))
        return text
    }
}
