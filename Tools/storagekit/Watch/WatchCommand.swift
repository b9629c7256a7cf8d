import ArgumentParser
import Foundation
import StorageKit

/// `storagekit watch`: shows a live page, search, grouped list, aggregate or SELECT of any store.
struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Show the rows of a table, updated live.",
        discussion: """
            The rows are updated with each commit that changes them. On a terminal the page is redrawn; in a pipe, or \
            with --format jsonl, every change is a line: \
            {"v":1,"position":…,"change":"insert|update|move|remove","at":…,"row":{…}}, with "from" where a row moved. If they \
            are read more slowly than commits come, those in between are left out.

              storagekit watch -s app.sqlite orders --order "total desc" -n 10
              storagekit watch -s app.sqlite orders --where "status = 'open'" --group customer
              storagekit watch -s app.sqlite orders --aggregate "count, sum(total)" --group status
              storagekit watch -s app.sqlite articles --search "swift*" --format jsonl
              storagekit watch -s app.sqlite orders -n 10 --include lines.order_id
              storagekit watch -s app.sqlite --sql "SELECT u.name, sum(total) FROM orders JOIN users u ON …"
              storagekit watch -s app.sqlite orders -n 10 --from -2h --pace 20

            --include and --sql run again if, and only if, a table or column that they read has changed, and print what \
            differs then. A row of --sql is known by its first column.

            --from starts at a point of the history, replays the commits since, then follows the store.
            """)

    @Argument(help: "The table.")
    var table: String?

    @Option(help: "One SELECT, over any tables, instead of a table.")
    var sql: String?

    @Option(
        name: .customLong("include"),
        help: "Show each row with the rows of TABLE whose COLUMN holds its key: TABLE.COLUMN.")
    var includes: [String] = []

    @OptionGroup var store: StoreOption

    @Option(name: .customLong("where"), help: "Only rows for which this SQL condition is true.")
    var condition: String?

    @Option(help: "Columns to sort by, separated by commas; add desc for descending order.")
    var order: String?

    @Option(name: [.customShort("n"), .customLong("limit")], help: "Rows per page.")
    var limit: Int?

    @Option(help: "The page number, starting at 1.")
    var page: Int?

    @Option(help: "Only rows that match this FTS5 query.")
    var search: String?

    @Option(help: "Group rows, or aggregates, by this column.")
    var group: String?

    @Option(help: "Show aggregates instead of rows: count, count(x), distinct(x), sum(x), avg(x), min(x), max(x).")
    var aggregate: String?

    @Option(
        name: .long, parsing: .unconditional, help: "Start at this point.",
        transform: { try PointArgument($0, now: SystemTime.now) })
    var from: PointArgument?

    @Option(help: "With --from: commits per second. Default: 10.")
    var pace: Double?

    @Option(name: .customLong("for"), help: "Stop this many seconds after the first page.")
    var seconds: Double?

    // With the options of `FormatOptions`, but another default.
    @Option(name: .long, help: "The output format: human or jsonl. Default: human on a terminal, jsonl elsewhere.")
    var format: OutputFormat?

    @Option(name: .long, help: "When to use colours.")
    var color: ColorChoice = .auto

    @Option(name: .long, help: "Read and show times in UTC or in your zone. Default: your zone on a terminal.")
    var time: TimeDisplay?

    private static let usualPace = 10.0
    static let usualLimit = 20
    /// The number of rows up to the end of the page; beyond it are margins, which must be countable as well.
    private static let maximumRows = Int.max / 4

    func validate() throws {
        guard (table == nil) != (sql == nil) else { throw ValidationError("Name a table, or a SELECT with --sql.") }
        let forTables =
            [condition, order, search, group, aggregate].contains { $0 != nil } || limit != nil || page != nil
        if sql != nil, forTables || from != nil || !includes.isEmpty {
            throw ValidationError("--sql can't be combined with options of a table, or with --from.")
        }
        if !includes.isEmpty, group != nil || aggregate != nil || from != nil {
            throw ValidationError("--include can't be combined with --group, --aggregate or --from.")
        }
        if let limit, limit < 1 { throw ValidationError("--limit must be at least 1.") }
        if let page, page < 1 { throw ValidationError("--page must be at least 1.") }
        let (rows, isTooMany) = (page ?? 1).multipliedReportingOverflow(by: limit ?? Self.usualLimit)
        guard !isTooMany, rows <= Self.maximumRows else {
            throw ValidationError("--page and --limit are too large: no table has so many rows.")
        }
        if aggregate != nil, limit != nil || page != nil || order != nil {
            throw ValidationError("--aggregate can't be combined with --limit, --page or --order.")
        }
        if let pace, !(pace > 0 && pace <= 1e6) { throw ValidationError("--pace must be above 0.") }
        if pace != nil, from == nil { throw ValidationError("--pace requires --from.") }
        if let seconds, !(seconds >= 0 && seconds <= 1e9) {
            throw ValidationError("--for must not be negative.")
        }
    }

    func run() async throws {
        if let table, table.contains(where: \.isWhitespace), table.uppercased().hasPrefix("SELECT") {
            throw CommandError(
                .usage, "A query is an option of watch.", next: "Type: storagekit watch --sql \"SELECT …\"")
        }
        let terminal = Terminal(descriptor: 1)
        let format = format ?? (terminal.isTerminal ? .human : .jsonl)
        try FormatOptions.require([.human, .jsonl], of: "watch", insteadOf: format)
        let command = self
        let file = FollowedFile(try store.path())
        let storage = try store.openForReading()
        let (rows, start) = try await storage.readHistory { store in
            (try WatchedRows(command, store), try command.from.map { try store.position(of: $0) })
        }
        let timeline = start.map { StorageTimeline(storage.engine, at: $0, upcasts: storage.upcasts) }
        let subscriptions = timeline?.subscriptions ?? storage.subscriptions
        let updates = WatchedUpdates()
        let handle = try await rows.follow(storage, by: subscriptions, into: updates)
        // It replays the changes since the point on the page, which then follows the store.
        let film = timeline.map { timeline in
            Task {
                do {
                    try await timeline.play(.commitsPerSecond(pace ?? Self.usualPace))
                } catch {
                    // If the command ends before the replay does, the updates have no reader any more.
                    updates.end(throwing: error)
                }
            }
        }
        let output = ResultOutput(format, style: format == .human ? FormatOptions.style(color) : .plain)
        let printer = WatchPrinter(rows, output, isScreen: terminal.isScreen)
        var watchman: Task<Void, any Error>?
        while let update = try await updates.next() {
            try printer.show(update)
            // The time limit starts with the first page, so that at least one is shown on any machine.
            if watchman == nil { watchman = FollowDeadline.start(for: seconds, on: file) { updates.end() } }
        }
        try printer.finish()
        watchman?.cancel()
        film?.cancel()
        // Kept until here: releasing the handle ends the subscription.
        withExtendedLifetime(handle) {}
        if StandardOutput.isReaderGone { throw BrokenPipe() }
        try file.check()
        try await storage.close()
    }
}
