/// Rows in aligned columns, for people.
///
/// All rows are held until they are laid out, so this is for results of bounded length.
struct TableLayout: Sendable {
    enum Alignment: Sendable { case left, right }

    struct Column: Sendable {
        let title: TableCell
        let alignment: Alignment

        init(_ title: String, _ alignment: Alignment = .left) {
            self.init(title: TableCell(title, .heading), alignment)
        }

        init(title: TableCell, _ alignment: Alignment = .left) {
            self.title = title
            self.alignment = alignment
        }
    }

    private static let gap = 2
    /// The minimum width of a column, even if the line gets too long.
    private static let narrowest = 4

    private let columns: [Column]
    private let width: Int?
    private let hasTitles: Bool
    private var rows: [[TableCell]] = []

    /// - Parameter width: The width of the terminal; nil to truncate nothing.
    init(_ columns: [Column], width: Int?) {
        self.columns = columns
        self.width = width
        hasTitles = columns.contains { !$0.title.text.isEmpty }
    }

    /// Adds a row; missing cells are empty, surplus ones are dropped.
    mutating func add(_ cells: [TableCell]) { rows.append(cells) }

    /// Returns the lines, titles first, without trailing spaces.
    func lines(style: Style) -> [String] { styledLines().map { $0.rendered(style, width: nil) } }

    /// Returns the lines before colours are applied.
    ///
    /// - Parameter natural: The natural widths of the columns; those of the rows if nil.
    func styledLines(natural: [Int]? = nil) -> [StyledLine] {
        let widths = fittedWidths(
            natural.map { widths in columns.indices.map { widths.indices.contains($0) ? widths[$0] : 0 } }
                ?? naturalWidths)
        var lines: [StyledLine] = []
        if hasTitles { lines.append(line(columns.map(\.title), widths: widths)) }
        return lines + rows.map { line($0, widths: widths) }
    }

    private func line(_ cells: [TableCell], widths: [Int]) -> StyledLine {
        var output = StyledLine()
        var owedSpaces = 0
        for (index, column) in columns.enumerated() {
            let cell = index < cells.count ? cells[index] : TableCell("")
            let text = width == nil ? cell.text : DisplayWidth.truncated(cell.text, to: widths[index])
            let padding = max(widths[index] - DisplayWidth.of(text), 0)
            if column.alignment == .right { owedSpaces += padding }
            if !text.isEmpty {
                output.add(String(repeating: " ", count: owedSpaces))
                output.add(shown: text, cell.role, point: cell.point)
                owedSpaces = 0
            }
            if column.alignment == .left { owedSpaces += padding }
            owedSpaces += Self.gap
        }
        return output
    }

    /// The widths that the titles and the rows need.
    private var naturalWidths: [Int] {
        var widths = columns.map { DisplayWidth.of($0.title.text) }
        for row in rows {
            for (index, cell) in row.prefix(widths.count).enumerated() {
                widths[index] = max(widths[index], DisplayWidth.of(cell.text))
            }
        }
        return widths
    }

    private func fittedWidths(_ natural: [Int]) -> [Int] {
        guard let width else { return natural }
        var widths = natural
        var surplus = widths.reduce(0, +) + Self.gap * max(widths.count - 1, 0) - width
        // The widest column is narrowed first, down to the next widest, so that short columns stay whole.
        while surplus > 0, let widest = widths.max(), widest > Self.narrowest,
            let index = widths.lastIndex(of: widest)
        {
            let others = widths.enumerated().filter { $0.offset != index }.map(\.element).max() ?? 0
            let floor = max(Self.narrowest, others == widest ? widest - 1 : others)
            let cut = min(surplus, widest - floor)
            widths[index] -= cut
            surplus -= cut
        }
        return widths
    }
}
