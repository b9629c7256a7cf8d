/// One line of a screen that scrolls.
struct ScreenLine: Sendable {
    enum Content: Sendable {
        case text(StyledLine)
        /// Cells of a table, whose columns are as wide as all lines of the screen need.
        case cells([TableCell])
    }

    let content: Content
    /// The screen that Enter opens; nil if there is none.
    let opens: Location?
    let subject: LineSubject
    /// The location of the line's item, and whether the line is its first.
    var cursor: ClosedRange<Int64> = 0...0
    var isFirst = true

    init(_ line: StyledLine, opens: Location? = nil, subject: LineSubject = LineSubject()) {
        content = .text(line)
        self.opens = opens
        self.subject = subject
    }

    init(cells: [TableCell], opens: Location? = nil, subject: LineSubject = LineSubject()) {
        content = .cells(cells)
        self.opens = opens
        self.subject = subject
    }

    /// Its text, for a search.
    var plain: String {
        switch content {
        case .text(let line): line.plain
        case .cells(let cells): cells.map(\.text).joined(separator: "  ")
        }
    }
}
