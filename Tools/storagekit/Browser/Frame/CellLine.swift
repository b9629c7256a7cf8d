/// Text laid out in cells, truncated to their number.
struct CellLine {
    private let width: Int
    /// The number of columns still to skip.
    private var skipped: Int
    private var cells: [Cell] = []
    private var isCut = false

    /// The maximum number of combining marks shown on one character; more are noise or malicious.
    private static let markLimit = 8

    init(width: Int, skipping skipped: Int) {
        self.width = width
        self.skipped = skipped
        cells.reserveCapacity(width)
    }

    var isFull: Bool { isCut }

    /// Adds text that is safe for a terminal. Characters without a width of their own are left out.
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

    /// The cells, padded to the line's width; truncation is marked by an ellipsis.
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
