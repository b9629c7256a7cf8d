import StorageKit

/// Writes the rows of queries in the format that was asked for.
///
/// Rows for people are laid out in pages, so that the first stand there at once and memory stays small.
final class QueryPrinter {
    private static let page = 200

    private let output: ResultOutput
    private var titles: [String]?
    /// The columns of an answer that may have no rows.
    private var expected: [String]?
    private var held: [[TableCell]] = []
    private(set) var rows = 0

    init(_ output: ResultOutput) { self.output = output }

    /// Says which columns the rows have, so that an answer without rows has a header, too.
    func expect(_ columns: [String], prefix: [String] = []) { expected = prefix + columns }

    /// Writes one row.
    ///
    /// - Parameter prefix: Fields before those of the query.
    func write(_ row: [StorageEvent.Field], prefix: [(String, String)] = [], role: Style.Role = .plain) throws {
        rows += 1
        let names = prefix.map(\.0) + row.map(\.column)
        switch output.format {
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

    private func cell(_ field: StorageEvent.Field, _ role: Style.Role) -> TableCell {
        TableCell(TerminalText.visible(ValueText.text(field)), field.value == .null && role == .plain ? .dim : role)
    }

    /// What stands in place of rows: who reads it knows that the query ran.
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
        if rows == 0, let expected { try writeHeader(expected) }
        try output.finish()
    }
}
