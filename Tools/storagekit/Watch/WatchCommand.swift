import ArgumentParser
import Foundation
import StorageCore
import StorageLog
import StorageProjections
import StorageSubscriptions

/// `storagekit watch`: a live page, search, grouped list or aggregate of any store.
struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Show the rows of a table live, while others write to the store.",
        discussion: """
            The rows are kept up to date by the log: each commit that concerns them is shown as it comes. On a terminal \
            the page is drawn anew; in a pipe, or with --format jsonl, every change is a line: \
            {"v":1,"position":…,"change":"insert|update|move|remove","at":…,"row":{…}}, with "from" where a row moved.

              storagekit watch -s app.sqlite orders --order "total desc" -n 10
              storagekit watch -s app.sqlite orders --where "status = 'open'" --group customer
              storagekit watch -s app.sqlite orders --aggregate "count, sum(total)" --group status
              storagekit watch -s app.sqlite articles --search "swift*" --format jsonl
              storagekit watch -s app.sqlite orders -n 10 --from -2h --pace 20

            --from begins in the past and takes the page through what happened since, then follows the store.
            """)

    @Argument(help: "The table.")
    var table: String

    @OptionGroup var store: StoreOption

    @Option(name: .customLong("where"), help: "Only rows for which this SQL condition is true.")
    var condition: String?

    @Option(help: "Columns to sort by, separated by commas, each with desc behind it where it is to go down.")
    var order: String?

    @Option(name: [.customShort("n"), .customLong("limit")], help: "How many rows a page has.")
    var limit: Int?

    @Option(help: "Which page, from 1 on.")
    var page: Int?

    @Option(help: "Only rows that the table's full-text index finds for these words, in the syntax of FTS5.")
    var search: String?

    @Option(help: "Show rows under headings, one for each value of this column; aggregates for each of them.")
    var group: String?

    @Option(help: "Show numbers in the place of rows: count, count(x), distinct(x), sum(x), avg(x), min(x), max(x).")
    var aggregate: String?

    @Option(
        name: .long, parsing: .unconditional, help: "Begin at this point of the past.",
        transform: { try PointArgument($0, now: SystemTime.now) })
    var from: PointArgument?

    @Option(help: "With --from: how many commits a second.")
    var pace: Double = 10

    @Option(name: .customLong("for"), help: "Stop so many seconds after the first page.")
    var seconds: Double?

    @OptionGroup var format: FormatOptions

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("-n takes a number from 1 on.") }
        if let page, page < 1 { throw ValidationError("--page takes a number from 1 on.") }
        if aggregate != nil, limit != nil || page != nil || order != nil {
            throw ValidationError("--aggregate takes all rows: leave -n, --page and --order out.")
        }
        if !(pace > 0 && pace <= 1e6) { throw ValidationError("--pace takes a number above 0.") }
        if let seconds, !(seconds >= 0 && seconds <= 1e9) {
            throw ValidationError("--for takes a number of seconds from 0 on.")
        }
    }

    func run() async throws {
        try format.require([.human, .jsonl], of: "watch")
        let command = self
        let file = FollowedFile(try store.path())
        let engine = try store.openForReading()
        let (rows, start) = try await engine.read { store in
            (try WatchedRows(command, store), try command.from.map { try store.points.position(of: $0) })
        }
        let timeline = start.map { StorageTimeline(engine, at: $0) }
        let subscriptions = timeline?.subscriptions ?? SubscriptionEngine(LiveSource(engine))
        let (updates, continuation) = AsyncThrowingStream<ListUpdate<[StorageValue]>, any Error>.makeStream()
        let handle = try await subscriptions.open {
            try rows.open($0, take: { continuation.yield($0) }, finish: { continuation.finish() })
        }
        // It takes the page through what happened since the point, and then lets it follow the store.
        let film = timeline.map { timeline in
            Task {
                do {
                    try await timeline.play(.commitsPerSecond(pace))
                } catch {
                    // Where the command ends before the film does, nobody listens any more.
                    continuation.finish(throwing: error)
                }
            }
        }
        let printer = WatchPrinter(rows, ResultOutput(format), isScreen: Terminal(descriptor: 1).isTerminal)
        var watchman: Task<Void, any Error>?
        for try await update in updates {
            try printer.show(update)
            // The time counts from the first page on, so that there is one however slow the machine is.
            if watchman == nil { watchman = FollowDeadline.start(for: seconds, on: file) { continuation.finish() } }
        }
        try printer.finish()
        watchman?.cancel()
        film?.cancel()
        _ = handle
        if StandardOutput.isReaderGone { throw BrokenPipe() }
        try file.check()
        try await engine.close()
    }
}
