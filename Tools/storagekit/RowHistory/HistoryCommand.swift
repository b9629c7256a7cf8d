import ArgumentParser
import StorageKit

/// `storagekit history`: the versions of a row.
struct HistoryCommand: AsyncParsableCommand, FormattedPagedCommand {
    static let configuration = CommandConfiguration(
        commandName: "history", abstract: "Show every version of a row, deleted rows included.",
        discussion: """
            Newest first in the default format, oldest first in all others. Exits with status 3 if the row never \
            existed, 1 if no version matches the filters.

              storagekit history -s app.sqlite users/42
              storagekit history -s app.sqlite users/42#name
              storagekit history -s app.sqlite users/42 --since -7d --format jsonl
            """)

    @Argument(help: "The row or cell: users/42, users/42#name.", transform: { try TargetArgument($0) })
    var target: TargetArgument

    @OptionGroup var store: StoreOption
    @OptionGroup var filter: FilterOptions

    @Option(name: [.customShort("n"), .customLong("limit")], help: "Show at most this many versions, newest first.")
    var limit: Int?

    @OptionGroup var rows: RowOptions
    @OptionGroup var format: FormatOptions
    @OptionGroup var pager: PagerOption

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be at least 1.") }
        if target.column != nil, rows.fields != nil {
            throw ValidationError("A cell has one column: omit --fields, or name the row.")
        }
    }

    func run() async throws {
        try rows.check(format.format)
        let command = self
        let status = try await store.read { store in
            let row = try store.row(command.target)
            let filter = try store.filter(command.filter, targets: [command.target])
            let scan = ChangeScan(store: store, filter: filter)
            for name in command.rows.fields ?? [] { try EntityNames(store).check(column: name, of: [row.entity]) }
            let printer = HistoryPrinter(
                command.target, row: row, limit: command.limit ?? .max, in: scan, shown: command.rows.display,
                to: ResultOutput(command.format, isTruncated: !command.rows.noTruncate))
            return try printer.run()
        }
        if let status { throw status }
    }
}

/// Reads the versions of a row twice: first along their chain, from the newest to the oldest, to find the wanted ones and how long each value had
/// lasted; then to write them.
private final class HistoryPrinter {
    private let target: TargetArgument
    private let scan: ChangeScan
    private let row: RowTarget
    private let limit: Int
    private let shown: RowDisplay
    /// The only columns; all if nil.
    private let columns: [String]?
    private let output: ResultOutput
    private var store: HistoryReader { scan.store }

    init(
        _ target: TargetArgument, row: RowTarget, limit: Int, in scan: ChangeScan, shown: RowDisplay,
        to output: ResultOutput
    ) {
        self.shown = shown
        columns = row.column.map { [$0] } ?? shown.fields
        self.target = row.target(in: target.table)
        self.limit = limit
        self.scan = scan
        self.row = row
        self.output = output
    }

    func run() throws -> ExitStatus? {
        let versions = try RowVersions(row, only: columns, in: scan).find(
            limit: limit, needsAges: output.format == .human)
        output.needsReader = !versions.isEmpty
        if output.format == .human {
            try writeHeading(versions)
            for version in versions { try write(version) }
        } else {
            if output.format == .csv || output.format == .md { try output.titles(StorageEvent.cellTitles) }
            for version in versions.reversed() { try write(version) }
        }
        try output.finish()
        return versions.isEmpty ? .negative : nil
    }

    private func write(_ version: RowVersions.Version) throws {
        guard let event = try store.event(at: version.position) else { return }
        switch output.format {
        case .human:
            if shown.isExpanded {
                try output.row(VerticalRow(event, only: columns, notes: version.notes, isWhole: shown.isWhole))
                break
            }
            try output.line(event.headline(showsTarget: false))
            let lines = event.columnLines(indent: 4, only: columns, notes: version.notes, isWhole: shown.isWhole)
            for line in lines { try output.line(line) }
        case .json, .jsonl: try output.record(EventRecord(event: event, columns: columns))
        case .csv, .md: for cells in event.cells(only: columns) { try output.row(cells) }
        }
        try output.flushIfDue()
    }

    /// `posts/42  4 versions  @101..@377  now: there`
    private func writeHeading(_ versions: [RowVersions.Version]) throws {
        var line = StyledLine(target.description, .heading)
        guard let newest = versions.first, let oldest = versions.last else {
            line.addWord("No version matches.", .dim)
            return try output.line(line)
        }
        let isCut = limit == versions.count
        let kind = isCut ? "newest version" : "version"
        line.addWord(NumberText.count(versions.count, kind))
        line.add("  ")
        line.add(positions: oldest.position...newest.position)
        if let last = try store.log.lastPosition(of: row.key, in: row.entity),
            let outline = try store.log.outline(containing: last)
        {
            let shape = outline.shape(ofEvent: Int(last - outline.header.first))
            let isGone = shape.operation == .delete || row.entity.isDropped
            line.addWord(isGone ? "now: deleted" : "now: live", isGone ? .removed : .added)
        }
        try output.line(line)
        if scan.filter.isBounded { try output.line("range \(scan.filter.logRange)", .dim) }
    }
}
