import StorageKit

/// Writes the rows of queries in the format that was asked for.
///
/// Rows for people are laid out in pages, so that the first stand there at once and memory stays small.
final class QueryPrinter {
    private static let page = 200

    private let output: ResultOutput
    private var titles: [String]?
    private var held: [[TableCell]] = []
    private(set) var rows = 0

    init(_ output: ResultOutput) { self.output = output }

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
            try output.row(prefix.map(\.1) + row.map(ValueText.plain))
        case .json, .jsonl:
            try output.object(QueryRowRecord(prefix: prefix, row: row))
        }
        try output.flushIfDue()
    }

    private func cell(_ field: StorageEvent.Field, _ role: Style.Role) -> TableCell {
        TableCell(TerminalText.visible(ValueText.text(field)), field.value == .null && role == .plain ? .dim : role)
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
        try output.finish()
    }
}
