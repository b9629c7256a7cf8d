import ArgumentParser
import StorageKit

/// `storagekit show`: everything about one commit or event.
struct ShowCommand: AsyncParsableCommand, FormattedPagedCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show one commit or event with all of its changes.",
        discussion: """
            @123 is an event; t:7, head, head~2 and times are commits. Without a point, shows the newest commit.

              storagekit show -s app.sqlite head
              storagekit show -s app.sqlite t:77
              storagekit show -s app.sqlite @1234
            """)

    @Argument(help: "The event or commit. Default: head.", transform: { try PointArgument($0, now: SystemTime.now) })
    var point: PointArgument?

    @OptionGroup var store: StoreOption
    @OptionGroup var rows: RowOptions
    @OptionGroup var format: FormatOptions
    @OptionGroup var pager: PagerOption

    func run() async throws {
        try format.require([.human, .jsonl, .json], of: "show")
        try rows.check(format.format)
        let command = self
        try await store.read { store in
            let names = EntityNames(store)
            for name in command.rows.fields ?? [] { try names.check(column: name, of: names.users) }
            let output = ResultOutput(command.format, isTruncated: !command.rows.noTruncate)
            let printer = ShowPrinter(store, command.rows.display, output)
            switch command.point {
            case .position(let position): try printer.show(event: position)
            case .before(let position): try printer.show(event: position - 1)
            default: try printer.show(store.commit(of: command.point ?? .head))
            }
        }
    }
}

private final class ShowPrinter {
    private let store: HistoryReader
    private let shown: RowDisplay
    private let output: ResultOutput

    init(_ store: HistoryReader, _ shown: RowDisplay, _ output: ResultOutput) {
        self.store = store
        self.shown = shown
        self.output = output
    }

    func show(event position: Int64) throws {
        guard let event = try store.event(at: position) else {
            throw CommandError(missingPosition: position, head: store.head)
        }
        let stored = try LogUsage(position...position, in: store)
        let tags = try store.tags.tags(in: position...position)
        let notes = try store.tags.notes(in: position...position)
        if output.format == .human {
            if shown.isExpanded {
                try output.row(VerticalRow(event, only: shown.fields, isWhole: shown.isWhole))
            } else {
                try output.line(event.headline(showsTarget: true))
                for line in event.columnLines(indent: 4, only: shown.fields, isWhole: shown.isWhole) {
                    try output.line(line)
                }
            }
            try output.line()
            let previous = event.previous > 0 ? "@\(event.previous)" : "none, this is the row's first event"
            try output.lines(
                fields(
                    [("previous", previous)] + CommitText.details(event.commit) + TagText.fields(tags, notes)
                        + [("stored", stored.text)],
                    points: event.previous > 0 ? ["previous": .position(event.previous)] : [:]))
        } else {
            try output.document(
                ShownEventRecord(
                    event: event, columns: shown.fields, annotations: AnnotationRecord(tags: tags, notes: notes),
                    stored: stored))
        }
        try output.flush()
    }

    func show(_ commit: LogIndex.Commit) throws {
        let entry = try AnnotatedCommit(store.summary(of: commit), store.tags)
        let stored = try LogUsage(commit.positions, in: store)
        guard output.format == .human else {
            let events = JSONStream { body in
                try self.forEachEvent(of: commit) {
                    try body(PositionedChangeRecord(event: $0, columns: self.shown.fields))
                }
            }
            try output.document(ShownCommitRecord(commit: entry, stored: stored, events: events))
            return try output.flush()
        }
        try output.lines(
            fields(CommitText.fields(of: entry, stored), points: ["commit": .commit(entry.info.number)]))
        try forEachEvent(of: commit) { event in
            try output.line()
            guard !shown.isExpanded else {
                return try output.row(VerticalRow(event, only: shown.fields, isWhole: shown.isWhole))
            }
            try output.line(event.changeLine(indent: 0, showsPosition: true))
            for line in event.columnLines(indent: 4, only: shown.fields, isWhole: shown.isWhole) {
                try output.line(line)
            }
        }
        try output.flush()
    }

    private func forEachEvent(of commit: LogIndex.Commit, _ body: (StorageEvent) throws -> Void) throws {
        try store.forEachEvent(of: commit) { batch, index in
            try body(batch.event(at: index, catalog: store.catalog, commit: commit.info))
            return true
        }
    }

    /// - Parameter points: The points that values of fields name.
    private func fields(_ fields: [(String, String)], points: [String: PointArgument]) -> [String] {
        var table = TableLayout([.init(""), .init("")], width: output.width)
        for (name, value) in fields where !value.isEmpty {
            table.add([TableCell(name, .dim), points[name].map { TableCell($0) } ?? TableCell(value)])
        }
        return table.lines(style: output.style)
    }
}
