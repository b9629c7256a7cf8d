import Foundation
import StorageKit

/// Shows a watched list: as a page for people, or change by change for programs.
final class WatchPrinter {
    private let watched: WatchedRows
    private let output: ResultOutput
    /// Whether each page is drawn over the previous one.
    private let isScreen: Bool
    private var rows: [[StorageValue]] = []
    /// Whether a page was shown, with which the next is compared.
    private var hasPage = false
    enum Screen {
        static let clear = "\u{1B}[H\u{1B}[2J"
    }

    init(_ watched: WatchedRows, _ output: ResultOutput, isScreen: Bool) {
        self.watched = watched
        self.output = output
        self.isScreen = isScreen
    }

    func show(_ update: ListUpdate<[StorageValue]>) throws {
        if let error = update.error {
            // The rows stay; the reason goes to standard error, so that it doesn't mix with them.
            try? FileHandle.standardError.write(contentsOf: Data("storagekit: \(error.message) Retrying.\n".utf8))
            // What was pending before may come with it.
            guard update.whole != nil || !update.changes.isEmpty else { return }
        }
        let before = rows
        update.difference.apply(to: &rows)
        defer { hasPage = true }
        // With an SQL condition each commit to the table reads the whole page again; most don't change it.
        guard update.whole == nil || !hasPage || rows != before else { return }
        switch output.format {
        case .human: try draw(update)
        default: try update.whole == nil || !hasPage ? writeChanges(update) : writeChanges(from: before, update)
        }
        try output.flush()
    }

    func finish() throws { try output.flush() }

    // MARK: For programs

    private func writeChanges(_ update: ListUpdate<[StorageValue]>) throws {
        if let whole = update.whole {
            try output.record(WatchRecord(position: update.position, step: .reset(count: whole.count)))
            for (index, row) in whole.enumerated() { try change("insert", of: row, at: index, in: update) }
        }
        for step in update.changes {
            switch step {
            case .insert(let row, let index): try change("insert", of: row, at: index, in: update)
            case .update(let row, let index): try change("update", of: row, at: index, in: update)
            case .remove(let index): try change("remove", of: nil, at: index, in: update)
            case .move(let row, let from, let to): try change("move", of: row, at: to, from: from, in: update)
            }
        }
    }

    /// Writes the steps from one page to the next after the whole page was read again: rows are matched by key, and updated, removed or inserted.
    private func writeChanges(from before: [[StorageValue]], _ update: ListUpdate<[StorageValue]>) throws {
        let keys = watched.keyIndices
        let difference = ListDifference(
            from: before, to: rows, by: { row in keys.map { row[$0] } }, at: update.position)
        var steps = update
        (steps.whole, steps.changes) = (difference.whole, difference.changes)
        try writeChanges(steps)
    }

    private func change(
        _ kind: String, of row: [StorageValue]?, at index: Int, from: Int? = nil, in update: ListUpdate<[StorageValue]>
    ) throws {
        let step = WatchRecord.Step.row(kind: kind, at: index, from: from, fields: row.map(watched.fields))
        try output.record(WatchRecord(position: update.position, step: step))
    }

    // MARK: For people

    private func draw(_ update: ListUpdate<[StorageValue]>) throws {
        if isScreen { try output.text(Screen.clear) }
        try output.line("\(watched.name) @\(update.position)  \(range(update))", .dim)
        guard let group = watched.heading else {
            try table(rows)
            if !isScreen { try output.line() }
            return
        }
        var section: [[StorageValue]] = []
        func flush() throws {
            guard let first = section.first else { return }
            let field = watched.fields(first)[group]
            try output.line("\(ValueText.text(field))  (\(section.count))")
            try table(section)
            section = []
        }
        for row in rows {
            if let last = section.last, last[group] != row[group] { try flush() }
            section.append(row)
        }
        try flush()
        if !isScreen { try output.line() }
    }

    /// Which rows the page has, of how many: `21-40 of 57`. The rows of a page that includes other tables aren't counted.
    private func range(_ update: ListUpdate<[StorageValue]>) -> String {
        let offset = watched.uncountedOffset ?? update.offset
        let shown = rows.isEmpty ? "0" : "\(offset + 1)-\(offset + rows.count)"
        guard watched.uncountedOffset == nil else { return shown }
        return "\(shown) of \(update.total ?? rows.count)"
    }

    private func table(_ rows: [[StorageValue]]) throws {
        guard !rows.isEmpty else { return }
        var layout = TableLayout(watched.columns.map { .init($0.name) }, width: output.width)
        for row in rows {
            layout.add(
                watched.fields(row).map { TableCell(ValueText.text($0), $0.value == .null ? .dim : .plain) })
        }
        try output.lines(layout.lines(style: output.style))
    }
}
