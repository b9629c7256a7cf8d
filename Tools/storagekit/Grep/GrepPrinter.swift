import StorageKit

/// Prints matching changes and commits as they are found.
final class GrepPrinter {
    /// The options of a search.
    struct Request {
        var scope: SearchScope?
        /// The kind of change to report; both if nil.
        var change: ValueMatch.Change?
        /// The columns to search; all if empty.
        var columns: [String] = []
        var isReversed = false
        var limit: Int?
    }

    private let request: Request
    private let scan: ChangeScan
    private let pattern: ValuePattern
    private let output: ResultOutput
    private var found = 0

    init(_ request: Request, for pattern: ValuePattern, in scan: ChangeScan, to output: ResultOutput) {
        self.request = request
        self.scan = scan
        self.pattern = pattern
        self.output = output
    }

    /// - Returns: `negative` if nothing matches.
    func run() throws -> ExitStatus? {
        if output.format == .human, scan.filter.isBounded { try output.line("range \(scan.filter.logRange)", .dim) }
        if request.scope == .meta { try searchCommits() } else { try searchValues() }
        output.needsReader = found > 0
        if found == 0, output.format == .human { try output.line("Nothing matches.", .dim) }
        try output.finish()
        return found == 0 ? .negative : nil
    }

    /// - Returns: Whether more are wanted.
    private func count() throws -> Bool {
        found += 1
        try output.flushIfDue()
        return found < request.limit ?? .max
    }

    // MARK: Values

    private func searchValues() throws {
        let search = ValueSearch(pattern: pattern, catalog: scan.store.catalog, isWanted: isWanted)
        if output.format == .csv || output.format == .md {
            try output.titles(StorageEvent.cellTitles + ["change"])
        }
        try scan.forEachEvent(descending: !request.isReversed) { batch, index, commit in
            let matches = search.matches(batch, index)
            guard !matches.isEmpty else { return true }
            let event = batch.event(at: index, catalog: scan.store.catalog, commit: commit)
            let cells = narrowed(matches.map { Cell($0, in: event) }, of: event)
            guard !cells.isEmpty else { return true }
            try write(event, cells)
            return try count()
        }
    }

    private func isWanted(_ change: ValueMatch.Change) -> Bool {
        switch request.scope {
        case .old: change != .appeared
        case .new: change != .vanished
        default: change != .kept && change == request.change ?? change
        }
    }

    /// A matching value with its context.
    private struct Cell {
        let change: ValueMatch.Change
        let column: String
        let old: StorageEvent.Field?
        let new: StorageEvent.Field?

        init(_ match: ValueMatch, in event: StorageEvent) {
            change = match.change
            if match.index < 0 {
                let field = event.key[-match.index - 1]
                column = field.column
                old = event.operation == .delete ? field : nil
                new = event.operation == .insert ? field : nil
            } else {
                old = event.old?[match.index]
                new = event.new?[match.index]
                column = (new ?? old)?.column ?? ""
            }
        }
    }

    /// Returns the cells of the requested columns.
    private func narrowed(_ cells: [Cell], of event: StorageEvent) -> [Cell] {
        var columns = Set(request.columns)
        let targets = scan.filter.rows.filter { row in
            row.entity.name == event.table && row.address.key == KeyCoding.encode(event.key.map(\.value))
        }
        if !scan.filter.tables.contains(event.table), targets.allSatisfy({ $0.column != nil }) {
            columns.formUnion(targets.compactMap(\.column))
        }
        return columns.isEmpty ? cells : cells.filter { columns.contains($0.column) }
    }

    private func write(_ event: StorageEvent, _ cells: [Cell]) throws {
        switch output.format {
        case .human:
            try output.line(event.headline(showsTarget: true))
            let widest = min(cells.map { DisplayWidth.of(TerminalText.visible($0.column)) }.max() ?? 0, 24)
            for cell in cells { try output.line(line(cell, widest)) }
        case .json, .jsonl:
            let matches = cells.map { GrepMatchRecord(column: $0.column, change: $0.change.rawValue) }
            try output.record(GrepValueRecord(event: event, matches: matches))
        case .csv, .md:
            let head = event.cells()[0].dropLast(3)
            for cell in cells {
                try output.row(
                    head + [
                        cell.column, cell.old.flatMap(ValueText.cell), cell.new.flatMap(ValueText.cell),
                        cell.change.rawValue,
                    ])
            }
        }
    }

    /// `+ title  Hello → Hello, world`
    private func line(_ cell: Cell, _ widest: Int) -> StyledLine {
        var line = StyledLine("    ")
        switch cell.change {
        case .appeared: line.add("+", .added)
        case .vanished: line.add("-", .removed)
        case .kept: line.add("~", .changed)
        }
        let name = TerminalText.visible(cell.column)
        line.add(shown: " \(name)" + String(repeating: " ", count: max(widest - DisplayWidth.of(name), 0) + 2))
        if let old = cell.old { line.add(excerpt(ValueText.text(old)), .removed) }
        if cell.old != nil, cell.new != nil { line.add(" → ") }
        if let new = cell.new { line.add(excerpt(ValueText.text(new)), .added) }
        return line
    }

    /// Returns the part of a long value around the match, or its beginning.
    private func excerpt(_ text: String) -> String {
        let longest = 100
        guard text.count > longest else { return text }
        let start = pattern.firstRange(in: text)?.lowerBound ?? text.startIndex
        let from = text.index(start, offsetBy: -longest / 4, limitedBy: text.startIndex) ?? text.startIndex
        let to = text.index(from, offsetBy: longest, limitedBy: text.endIndex) ?? text.endIndex
        return (from == text.startIndex ? "" : "…") + text[from..<to] + (to == text.endIndex ? "" : "…")
    }

    // MARK: Commits

    private func searchCommits() throws {
        if output.format == .csv || output.format == .md {
            try output.titles(["commit", "from", "to", "time", "field", "value"])
        }
        try scan.forEachCommit(descending: !request.isReversed) { commit, _ in
            let fields = commit.info.metadata.fields.filter { pattern.matches($0.value) }
            guard !fields.isEmpty else { return true }
            try write(commit, fields)
            return try count()
        }
    }

    private func write(_ commit: CommitSummary, _ fields: [(name: String, value: String)]) throws {
        let entry = try AnnotatedCommit(commit, scan.store.tags)
        switch output.format {
        case .human:
            try output.line(entry.headline)
            for field in fields { try output.line("    \(field.name)  \(excerpt(field.value))") }
        case .json, .jsonl:
            try output.record(GrepCommitRecord(commit: entry, fields: fields.map(\.name)))
        case .csv, .md:
            for field in fields {
                try output.row([
                    "\(entry.info.number)", "\(entry.positions.lowerBound)", "\(entry.positions.upperBound)",
                    Timestamp.text(entry.info.time), field.name, field.value,
                ])
            }
        }
    }
}

extension CommitMetadata {
    /// All metadata of a commit, by name; an attribute's name is printed with its value.
    fileprivate var fields: [(name: String, value: String)] {
        let named: [(String, String?)] = [
            ("actor", actor), ("app", app), ("reason", reason), ("correlation", correlation), ("key", idempotencyKey),
        ]
        let attributes = attributes.sorted { $0.key < $1.key }.map { ("attribute", "\($0.key)=\($0.value)") }
        return named.compactMap { name, value in value.map { (name, $0) } } + attributes
    }
}
