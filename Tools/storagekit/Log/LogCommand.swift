import ArgumentParser
import StorageKit

/// `storagekit log`: commits, newest first.
struct LogCommand: AsyncParsableCommand, FormattedPagedCommand {
    static let configuration = CommandConfiguration(
        commandName: "log", abstract: "List commits, newest first.",
        discussion: """
            A RANGE is A..B: after A, up to and including B. A TARGET is a table, a row or a cell: users, \
            users/42, users/42#name. A point alone stands for the history up to it. Of rows alone, the changes are \
            shown, as -p does. The fields of --template are \(CommitTemplate.fields); \\n is a line break.

              storagekit log -s app.sqlite -5
              storagekit log -s app.sqlite -2h.. users --actor anna -p
              storagekit log -s app.sqlite users/42 --oneline
              storagekit log -s app.sqlite --template '{commit} {age} {actor}: {rows}'
              storagekit log -s app.sqlite orders --changed "status=closed" --where "total > 1000"
            """)

    @Argument(help: ArgumentHelp("A range, then tables, rows or cells.", valueName: "range-or-target"))
    var words: [String] = []

    @OptionGroup var store: StoreOption
    @OptionGroup var filter: FilterOptions

    @Option(
        name: .customLong("where"),
        help: "Only changes after which, or, of a delete, before which, this SQL condition is true of the row.")
    var condition: String?

    @Option(
        name: .long,
        help: "Only updates that change this column: status, status=closed, or status:open->closed; may be repeated.",
        transform: ChangedColumn.init)
    var changed: [ChangedColumn] = []

    @Option(name: [.customShort("n"), .customLong("limit")], help: "Stop after this many commits; also -5.")
    var limit: Int?

    @Flag(name: .long, help: "Oldest first.")
    var reverse = false

    @Flag(name: [.short, .long], help: "Show every change with its columns.")
    var patch = false

    @Flag(name: .long, help: "One line per commit.")
    var oneline = false

    @Option(
        help: "A line of your own for each commit, with {commit}, {time}, {actor}, {reason}, … in it.",
        transform: { try CommitTemplate($0) })
    var template: CommitTemplate?

    @Flag(name: .long, help: "Include schema changes, tags, notes and operations.")
    var schema = false

    @OptionGroup var format: FormatOptions
    @OptionGroup var pager: PagerOption

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be at least 1.") }
        if [oneline, patch, template != nil].filter({ $0 }).count > 1 {
            throw ValidationError("--oneline, --patch and --template can't be combined.")
        }
        let allowed: [(option: String, isGiven: Bool, formats: [OutputFormat])] = [
            ("--template", template != nil, [.human]), ("--oneline", oneline, [.human]),
            ("--patch", patch, [.human, .json, .jsonl]),
        ]
        for (option, isGiven, formats) in allowed where isGiven && !formats.contains(format.format) {
            throw ValidationError("\(option) can't be combined with --format \(format.format.rawValue).")
        }
    }

    func run() async throws {
        let command = self
        let words = words
        let status = try await store.read { store in
            let (range, targets) = try HistoryWords.split(words, naming: store.catalog)
            var filter = try store.filter(
                command.filter, range: range, targets: targets, includesSchema: command.schema)
            try RowConditions(command.condition, command.changed, of: targets, store).narrow(&filter)
            let content = command.content(isOfRows: !filter.rows.isEmpty && filter.tables.isEmpty)
            let scan = ChangeScan(store: store, filter: filter)
            return try LogPrinter(content, of: scan, to: ResultOutput(command.format))
                .run(descending: !command.reverse, limit: command.limit ?? .max)
        }
        if let status { throw status }
    }

    private func content(isOfRows: Bool) -> LogPrinter.Content {
        if let template { return .template(template) }
        if oneline { return .line }
        return patch || isOfRows && format.format == .human ? .changes : .counts
    }
}

/// Prints commits as they are found.
private final class LogPrinter {
    /// The detail to print of a commit.
    enum Content: Equatable {
        case template(CommitTemplate)
        case line
        /// The number of changed rows, by table.
        case counts
        /// Each change with its columns.
        case changes
    }

    private let content: Content
    private let scan: ChangeScan
    private let output: ResultOutput

    private static let titles = [
        "commit", "from", "to", "time", "actor", "app", "reason", "table", "insert", "update", "delete",
    ]

    init(_ content: Content, of scan: ChangeScan, to output: ResultOutput) {
        self.content = content
        self.scan = scan
        self.output = output
    }

    /// - Returns: `negative` if filters were given and nothing matches.
    func run(descending: Bool, limit: Int) throws -> ExitStatus? {
        if output.format == .human, !isTemplate, scan.filter.isBounded {
            try output.line("range \(scan.filter.logRange)", .dim)
        }
        if output.format == .csv || output.format == .md { try output.titles(Self.titles) }
        var count = 0
        try scan.forEachCommit(
            descending: descending, namingRows: namesRows, keepingEvents: content == .changes
        ) { commit, scanned in
            try write(commit, scanned, isFirst: count == 0)
            try output.flushIfDue()
            count += 1
            return count < limit
        }
        output.needsReader = count > 0
        if count == 0, output.format == .human, !isTemplate {
            try output.line(scan.filter.isNarrow ? "No commit matches." : "The log is empty.", .dim)
            if let hint = try scan.unknownActors() { try output.line(hint, .dim) }
        }
        try output.finish()
        return count == 0 && scan.filter.isNarrow ? .negative : nil
    }

    private var isTemplate: Bool { if case .template = content { true } else { false } }

    private var namesRows: Bool {
        if case .template(let template) = content { return template.needsRows }
        return content == .counts && output.format == .human
    }

    private func write(_ summary: CommitSummary, _ scanned: ScannedCommit, isFirst: Bool) throws {
        let entry = try AnnotatedCommit(summary, scan.store.tags)
        switch output.format {
        case .human:
            if content == .line { return try output.line(oneLine(entry)) }
            if case .template(let template) = content {
                return try output.text(template.text(of: entry, rows: scanned.rows, now: SystemTime.now) + "\n")
            }
            if !isFirst { try output.line() }
            try writeBlock(entry, scanned)
        case .json, .jsonl:
            let events = JSONStream { body in
                try self.forEachEvent(of: entry, scanned.parts) { try body(PositionedChangeRecord(event: $0)) }
            }
            try output.record(LogRecord(commit: entry, events: content == .changes ? events : nil))
        case .csv, .md:
            let metadata = entry.info.metadata
            let head: [String?] = [
                String(entry.info.number), String(entry.positions.lowerBound), String(entry.positions.upperBound),
                Timestamp.text(entry.info.time), metadata.actor, metadata.app, metadata.reason,
            ]
            for (table, counts) in entry.changes {
                let numbers = [counts.insert, counts.update, counts.delete].map { String($0) }
                try output.row(head + [table] + numbers)
            }
        }
    }

    private func writeBlock(_ entry: AnnotatedCommit, _ scanned: ScannedCommit) throws {
        try output.line(entry.headline)
        let metadata = entry.info.metadata
        if metadata.reason != nil { try output.line("    " + CommitText.reason(metadata)) }
        for line in TagText.lines(entry.tags, entry.notes, indent: 4) { try output.line(line) }
        let changes = entry.changes
        let widest = changes.map { DisplayWidth.of(TerminalText.visible($0.table)) }.max() ?? 0
        for (table, counts) in changes {
            let name = TerminalText.visible(table)
            var line = StyledLine(
                shown: "    \(name)" + String(repeating: " ", count: widest - DisplayWidth.of(name) + 2))
            counts.add(to: &line)
            line.addWord(scanned.rows.text(of: table, changes: counts.total))
            try output.line(line)
        }
        guard content == .changes else { return }
        try forEachEvent(of: entry, scanned.parts) { event in
            try output.line(event.changeLine(indent: 4, showsPosition: true))
            for line in event.columnLines(indent: 8) { try output.line(line) }
        }
    }

    /// On a narrow terminal the positions are omitted in favour of the changes: the commit's number leads to them.
    private func oneLine(_ entry: AnnotatedCommit) -> StyledLine {
        var counts = StyledLine()
        for (index, change) in entry.changes.enumerated() {
            counts.add(index == 0 ? "  " : ", ")
            counts.add(change.table + " ")
            change.counts.add(to: &counts)
        }
        var line = entry.headline
        if let width = output.width, DisplayWidth.of(line.plain + counts.plain) > width {
            line = CommitText.headline(entry.info, at: nil, tags: entry.tags)
        }
        line.add(counts)
        line.addWord(CommitText.reason(entry.info.metadata))
        return line
    }

    /// Calls `body` with the matching events of a commit, oldest first. Those of a commit in many segments are read a second time, because they may
    /// be larger than memory.
    private func forEachEvent(
        of entry: AnnotatedCommit, _ parts: CommitParts, _ body: (StorageEvent) throws -> Void
    ) throws {
        let catalog = scan.store.catalog
        guard !parts.isComplete else {
            return try parts.forEachEvent { try body($0.event(at: $1, catalog: catalog, commit: $2)) }
        }
        var filter = scan.filter
        filter.logRange.after = max(filter.logRange.after, entry.positions.lowerBound - 1)
        filter.logRange.through = min(filter.logRange.through, entry.positions.upperBound)
        filter.query.positions = filter.logRange.positions
        try ChangeScan(store: scan.store, filter: filter).forEachEvent(descending: false) { batch, index, commit in
            try body(batch.event(at: index, catalog: catalog, commit: commit))
            return true
        }
    }
}
