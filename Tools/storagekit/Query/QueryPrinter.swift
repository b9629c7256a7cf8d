import StorageKit

/// Writes the rows of queries in the requested format.
///
/// Rows for people are laid out in pages, so that the first ones appear at once and memory use stays small.
final class QueryPrinter {
    private static let page = 200

    private let output: ResultOutput
    private let shown: RowDisplay
    /// The indexes of the selected columns in the last row.
    private var choice: (columns: [String], indices: [Int])?
    private var titles: [String]?
    /// The columns of an answer that may be empty.
    private var expected: (prefix: [String], columns: [String])?
    private var held: [[TableCell]] = []
    private(set) var rows = 0

    init(_ output: ResultOutput, _ shown: RowDisplay = RowDisplay()) {
        self.output = output
        self.shown = shown
    }

    /// Sets the columns of the rows, so that an answer without rows has a header, too.
    func expect(_ columns: [String], prefix: [String] = []) { expected = (prefix, columns) }

    /// Writes one row.
    ///
    /// - Parameter prefix: Fields before those of the query.
    func write(_ row: [StorageEvent.Field], prefix: [(String, String)] = [], role: Style.Role = .plain) throws {
        rows += 1
        let row = try chosen(row.map(\.column)).map { $0.map { row[$0] } } ?? row
        let names = prefix.map(\.0) + row.map(\.column)
        switch output.format {
        case .human where shown.isExpanded:
            try writeVertically(row, prefix, role)
        case .human:
            if titles != names { try flush() }
            titles = names
            held.append(prefix.map { TableCell($0.1, role == .plain ? .dim : role) } + row.map { cell($0, role) })
            if held.count == Self.page { try flush() }
        case .csv, .md:
            if titles != names { try output.titles(names) }
            titles = names
            try output.row(prefix.map(\.1) + row.map(ValueText.cell))
        case .json, .jsonl:
            try output.object(QueryRowRecord(prefix: prefix, row: row))
        }
        try output.flushIfDue()
    }

    /// Returns the indexes of the requested columns, in the requested order; nil for all.
    private func chosen(_ columns: [String]) throws -> [Int]? {
        guard let fields = shown.fields else { return nil }
        if let choice, choice.columns == columns { return choice.indices }
        let indices = try fields.map { name in
            if let index = columns.firstIndex(where: { $0.utf8.elementsEqual(name.utf8) }) { return index }
            let similar = Suggestions.nearest(to: name, among: columns)
            throw CommandError(
                .usage, "The result has no column \"\(name)\".", why: "Its columns are \(Suggestions.list(columns)).",
                next: similar.isEmpty
                    ? "Name one of them with --fields." : "Did you mean \(similar.joined(separator: ", "))?")
        }
        choice = (columns, indices)
        return indices
    }

    private func writeVertically(
        _ row: [StorageEvent.Field], _ prefix: [(String, String)], _ role: Style.Role
    ) throws {
        var vertical = VerticalRow("RECORD \(rows)")
        for (name, value) in prefix { vertical.add(name, value, role) }
        for field in row {
            let cell = cell(field, role)
            vertical.add(field.column, StyledLine(shown: cell.text, cell.role))
        }
        try output.row(vertical)
    }

    private func cell(_ field: StorageEvent.Field, _ role: Style.Role) -> TableCell {
        let text = ValueText.text(field, isWhole: shown.isWhole)
        return TableCell(text, field.value == .null && role == .plain ? .dim : role)
    }

    /// Writes the header of an answer without rows, which shows that the query ran.
    private func writeHeader(_ columns: [String]) throws {
        switch output.format {
        case .human:
            try output.lines(TableLayout(columns.map { .init($0) }, width: output.width).lines(style: output.style))
            try output.line("0 rows", .dim)
        case .csv, .md: try output.titles(columns)
        case .json, .jsonl: break
        }
    }

    private func flush() throws {
        guard let titles, !held.isEmpty else { return }
        var table = TableLayout(titles.map { .init($0) }, width: output.width)
        for row in held { table.add(row) }
        held.removeAll(keepingCapacity: true)
        try output.lines(table.lines(style: output.style))
    }

    func finish() throws {
        try flush()
        if rows == 0, let expected {
            let columns = expected.columns
            try writeHeader(expected.prefix + (chosen(columns).map { $0.map { columns[$0] } } ?? columns))
        }
        try output.finish()
    }
}
