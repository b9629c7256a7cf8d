import ArgumentParser
import StorageKit

/// `storagekit grep`: when values appeared and vanished.
struct GrepCommand: AsyncParsableCommand, FormattedPagedCommand {
    static let configuration = CommandConfiguration(
        commandName: "grep", abstract: "Find when a value appeared or disappeared, including in deleted rows.",
        discussion: """
            Lists changes after which a value contains the pattern and before which it didn't, or the reverse, newest \
            first. --in old and --in new list every change with such a value on that side; --in meta lists commits \
            whose actor, app, reason, correlation, key or attributes match. The pattern is literal text, or a regular \
            expression with -G. A RANGE is A..B, a TARGET a table, a row or a cell.

              storagekit grep -s app.sqlite 'anna@example.org'
              storagekit grep -s app.sqlite -i refund -30d.. orders --appeared
              storagekit grep -s app.sqlite -G '^T-[0-9]+$' --in meta
            """)

    @Argument(help: "The pattern to search for.")
    var pattern: String

    @Argument(help: ArgumentHelp("A range, then tables, rows or cells.", valueName: "range-or-target"))
    var words: [String] = []

    @OptionGroup var store: StoreOption

    @Flag(name: [.customShort("F"), .customLong("fixed")], help: "The pattern is literal text (default).")
    var isFixed = false

    @Flag(name: [.customShort("G"), .customLong("regex")], help: "The pattern is a regular expression.")
    var isExpression = false

    @Flag(name: [.customShort("i"), .long], help: "Ignore case.")
    var ignoreCase = false

    @Flag(name: .long, help: "Only where the value appeared.")
    var appeared = false

    @Flag(name: .long, help: "Only where the value disappeared.")
    var vanished = false

    @Option(name: .customLong("in"), help: "What to search: old values, new values, or commit metadata (meta).")
    var scope: SearchScope?

    @OptionGroup var filter: FilterOptions

    @Option(name: [.customShort("n"), .customLong("limit")], help: "Stop after this many changes.")
    var limit: Int?

    @Flag(name: .long, help: "Oldest first.")
    var reverse = false

    @OptionGroup var format: FormatOptions
    @OptionGroup var pager: PagerOption

    func validate() throws {
        if pattern.isEmpty { throw ValidationError("The pattern is empty; everything would match.") }
        if isFixed, isExpression { throw ValidationError("-F and -G can't be combined.") }
        if appeared, vanished { throw ValidationError("Omit both --appeared and --vanished to show both.") }
        if scope != nil, appeared || vanished {
            throw ValidationError("--in can't be combined with --appeared or --vanished.")
        }
        if let limit, limit < 1 { throw ValidationError("--limit must be at least 1.") }
    }

    func run() async throws {
        let command = self
        let (range, targets) = try HistoryWords.split(words)
        let status = try await store.read { store in
            let pattern = try ValuePattern(
                command.pattern, isExpression: command.isExpression, ignoresCase: command.ignoreCase)
            let filter = try command.filter(store, range, targets)
            let request = GrepPrinter.Request(
                scope: command.scope, change: command.appeared ? .appeared : command.vanished ? .vanished : nil,
                columns: command.filter.column, isReversed: command.reverse, limit: command.limit)
            let scan = ChangeScan(store: store, filter: filter)
            return try GrepPrinter(request, for: pattern, in: scan, to: ResultOutput(command.format)).run()
        }
        if let status { throw status }
    }

    /// - Throws: `usage` if the table was written before the pattern.
    private func filter(
        _ store: HistoryReader, _ range: PointRange?, _ targets: [TargetArgument]
    ) throws -> ChangeFilter {
        do {
            return try store.filter(filter, range: range, targets: targets)
        } catch let error as CommandError {
            guard error.status == .notFound, targets.count == 1, targets[0].id == nil,
                store.catalog.entities.contains(where: { $0.name.utf8.elementsEqual(pattern.utf8) })
            else { throw error }
            throw CommandError(
                error.status, error.what, why: error.why,
                next:
                    "The pattern comes first: storagekit grep \([targets[0].table, pattern].quotedAsOperands)"
            )
        }
    }
}
