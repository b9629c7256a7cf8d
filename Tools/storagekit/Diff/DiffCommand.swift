import ArgumentParser
import StorageKit

/// `storagekit diff`: the differences between two points.
struct DiffCommand: AsyncParsableCommand, PagedCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff", abstract: "Show the net change of each row between two points.",
        discussion: """
            Without a second point, compares with head; A..B names both. TARGETs are \
            tables, rows or cells. If a table is named like a point, give both points.

              storagekit diff -s app.sqlite t:5
              storagekit diff -s app.sqlite 2024-05-01 head~1 users --stat
              storagekit diff -s app.sqlite -1d users/42#name --format jsonl
              storagekit diff -s app.sqlite head~1 head --reverse --format sql
            """)

    @Argument(help: ArgumentHelp("A point or two, then tables, rows or cells.", valueName: "points-and-targets"))
    var words: [String] = []

    @OptionGroup var store: StoreOption

    @Flag(name: .long, help: "Show only the number of differing rows per table.")
    var stat = false

    @Flag(name: .long, help: "Show only which tables differ, and their schema changes.")
    var summary = false

    @Flag(name: .long, help: "For inserted and deleted rows, show only the keys.")
    var skinny = false

    @Flag(name: .long, help: "Show the reverse, from B to A.")
    var reverse = false

    @Flag(name: .long, help: "Exit with status 1 if anything differs.")
    var exitCode = false

    @Option(name: .long, help: "The output format; sql writes statements that turn A into B.")
    var format: DiffFormat = .human

    @Option(name: .long, help: "When to use colours: auto, always or never.")
    var color: ColorChoice = .auto

    // Points are parsed with the command line, so `TimeDisplay.current` has already looked for it.
    @Option(name: .long, help: "Read times in UTC or in your zone. Default: your zone on a terminal.")
    var time: TimeDisplay?

    @OptionGroup var pager: PagerOption

    var isPaged: Bool { !pager.noPager && format == .human }

    func validate() throws {
        if words.isEmpty {
            throw ValidationError("diff needs a point to compare with, such as t:5, -1d or head~1.")
        }
        if [stat, summary, skinny].filter({ $0 }).count > 1 {
            throw ValidationError("--stat, --summary and --skinny can't be combined.")
        }
        if format == .sql, stat || summary || skinny {
            throw ValidationError("--format sql can't be combined with --stat, --summary or --skinny.")
        }
        if skinny, format != .human { throw ValidationError("--skinny requires the default format.") }
    }

    func run() async throws {
        let command = self
        let differs = try await store.read { store in try command.write(store) }
        if command.exitCode, differs { throw ExitStatus.negative }
    }

    /// - Returns: Whether anything differs.
    func write(_ store: HistoryReader) throws -> Bool {
        let (points, targets) = try Self.split(words)
        var from = try store.position(of: points.from)
        var to = try store.position(of: points.to)
        if reverse { swap(&from, &to) }
        let selection = try DiffSelection(store, targets, from: from, to: to)
        let difference = try NetDifference(
            unread: store.connection, from: from, to: to, selection: selection.selection,
            forStatements: format == .sql)
        let output = ResultOutput(
            format.output, style: format.output == .human ? FormatOptions.style(color) : .plain)
        output.needsReader = !exitCode
        return try DiffPrinter(content, of: difference, in: store, selecting: selection, to: output).run()
    }

    private var content: DiffPrinter.Content {
        if format == .sql { return .statements }
        return stat ? .counts : summary ? .tables : skinny ? .keys : .rows
    }

    /// Splits the words into points, and the targets after them.
    private static func split(
        _ words: [String]
    ) throws -> (points: (from: PointArgument, to: PointArgument), targets: [TargetArgument]) {
        let now = SystemTime.now
        guard let first = words.first else { return ((.head, .head), []) }
        var rest = words.dropFirst()
        if first.contains("..") {
            let range = try PointRange(first, now: now)
            return ((range.after ?? .position(0), range.through ?? .head), try rest.map(TargetArgument.init))
        }
        let from = try PointArgument(first, now: now)
        var to = PointArgument.head
        if let second = rest.first {
            do throws(GrammarError) {
                to = try PointArgument(second, now: now)
                rest = rest.dropFirst()
            } catch {
                // Not a point, so it is a target.
            }
        }
        return ((from, to), try rest.map(TargetArgument.init))
    }
}

/// The tables, rows and cells to include in a difference.
struct DiffSelection {
    var selection = NetDifference.Selection()
    /// The ids of the requested columns, for rows with only some columns requested.
    private var columns: [RowAddress: Set<UInt32>] = [:]

    init(_ store: HistoryReader, _ targets: [TargetArgument], from: Int64, to: Int64) throws {
        var whole: Set<RowAddress> = []
        for target in targets {
            guard target.id != nil else {
                try Self.check(target.table, in: store, from: from, to: to)
                selection.tables.insert(target.table)
                continue
            }
            let row = try store.row(target)
            selection.rows.append(row.address)
            if let column = row.column {
                let ids = row.entity.columns.filter { $0.name.utf8.elementsEqual(column.utf8) }.map(\.id)
                columns[row.address, default: []].formUnion(ids)
            } else {
                whole.insert(row.address)
            }
        }
        for row in whole { columns[row] = nil }
    }

    /// A name that a table had only at one of the points is accepted as well as its current one.
    private static func check(_ table: String, in store: HistoryReader, from: Int64, to: Int64) throws {
        do {
            _ = try EntityNames(store).users(named: table)
        } catch {
            for position in [from, to] {
                if try Catalog.load(store.connection, at: position).entity(named: table)?.isReserved == false { return }
            }
            if (try? PointArgument(table, now: 0)) != nil {
                throw CommandError(
                    .usage, "diff compares two points, and '\(table)' is a third.",
                    next: "Compare two of them at a time, or name tables after them.")
            }
            throw error
        }
    }

    /// Returns a change with only the requested columns; nil if nothing is left.
    func narrowed(_ change: NetChange) -> NetChange? {
        guard !columns.isEmpty else { return change }
        for entity in [change.table.to, change.table.from] {
            guard let entity else { continue }
            guard let ids = columns[RowAddress(entity: entity.id, values: change.key)] else { continue }
            return change.narrowed { [$0.from?.id, $0.to?.id].contains { $0.map(ids.contains) ?? false } }
        }
        return change
    }
}
