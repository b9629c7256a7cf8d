import StorageKit

/// One commit as `show` prints it: its fields, then its changes.
struct CommitSource: PageSource {
    let number: Int64

    func read(_ page: LinePage, in store: HistoryReader, to writer: PageWriter) throws {
        let commit = try store.commit(of: .commit(number))
        let first = commit.positions.lowerBound
        // Item 0 is the head, the others are events.
        let numbers = page.numbers(of: Int64(commit.positions.count) + 1)
        for number in numbers {
            let item =
                number == 0
                ? try head(commit, store) : try event(at: first + number - 1, number: number, in: store)
            guard let item else { continue }
            if try !writer.add(item) { return }
        }
    }

    private func head(_ commit: LogIndex.Commit, _ store: HistoryReader) throws -> ScreenItem {
        let entry = try AnnotatedCommit(store.summary(of: commit), store.tags)
        let stored = try LogUsage(commit.positions, in: store)
        var table = TableLayout([.init(""), .init("")], width: nil)
        for (name, value) in CommitText.fields(of: entry, stored) {
            table.add([TableCell(name, .dim), TableCell(value)])
        }
        let subject = LineSubject(commit: number, actor: commit.info.metadata.actor)
        let lines = table.styledLines() + [StyledLine()]
        return ScreenItem(at: 0...0, lines.map { ScreenLine($0, subject: subject) })
    }

    private func event(at position: Int64, number: Int64, in store: HistoryReader) throws -> ScreenItem? {
        guard let event = try store.event(at: position) else { return nil }
        let subject = LineSubject(
            commit: event.commit.number, actor: event.commit.metadata.actor, row: event.target, table: event.table)
        let head = ScreenLine(
            event.changeLine(indent: 0, showsPosition: true), opens: .history(event.target), subject: subject)
        return ScreenItem(at: number...number, [head] + event.columnLines(opening: event.target, subject: subject))
    }
}

extension PrintableChange {
    /// Returns a line for each column; Enter on it opens the column's history.
    func columnLines(
        opening target: TargetArgument?, only columns: [String]? = nil, notes: [String] = [], subject: LineSubject
    ) -> [ScreenLine] {
        let names = changedColumns(only: columns).map(\.column)
        return zip(names, columnLines(indent: 4, only: columns, notes: notes)).map { name, line in
            let cell = target.map { TargetArgument(table: $0.table, id: $0.id, column: name) }
            var subject = subject
            if let cell { subject.row = cell }
            return ScreenLine(line.limited, opens: cell.map { .history($0) }, subject: subject)
        }
    }
}

extension StyledLine {
    /// The maximum length of a line that is kept.
    private static let lengthLimit = 20_000

    /// The line, or its beginning if it is very long: a value can have gigabytes.
    var limited: StyledLine {
        var left = Self.lengthLimit
        guard parts.reduce(0, { $0 + $1.text.utf8.count }) > left else { return self }
        var line = StyledLine()
        for part in parts where left > 0 {
            let text = part.text.utf8.count > left ? String(part.text.prefix(left)) + "…" : part.text
            line.add(shown: text, part.role)
            left -= text.utf8.count
        }
        return line
    }
}
