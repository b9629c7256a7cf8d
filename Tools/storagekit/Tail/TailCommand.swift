import ArgumentParser
import Foundation
import StorageKit

/// `storagekit tail`: the newest events, and later ones as they are committed.
struct TailCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tail", abstract: "Show the newest events, and follow new ones.",
        discussion: """
            --format jsonl prints the same lines as history. To resume an earlier run, pass the last position that it \
            printed to --from: no event is lost or repeated.

              storagekit tail -s app.sqlite -n 5
              storagekit tail -s app.sqlite -f --table orders --format jsonl
              storagekit tail -s app.sqlite -f --from @1234 --for 60
            """)

    @OptionGroup var store: StoreOption
    @OptionGroup var filter: FilterOptions

    @Flag(name: [.customShort("f"), .long], help: "Follow new events until interrupted.")
    var follow = false

    @Option(
        name: [.customShort("n"), .customLong("limit")], help: "How many existing events to show first. Default: 20.")
    var limit: Int?

    @Option(
        name: .long, parsing: .unconditional, help: "Start with the first event after this point.",
        transform: { try PointArgument($0, now: SystemTime.now) })
    var from: PointArgument?

    @Option(name: .customLong("for"), help: "Stop following after this many seconds.")
    var seconds: Double?

    @Flag(name: .long, help: "Include schema changes, tags, notes and operations.")
    var schema = false

    @OptionGroup var format: FormatOptions

    private static let usualLimit = 20

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit must not be negative.") }
        if limit != nil, from != nil { throw ValidationError("--from shows every event after it: omit --limit.") }
        if let seconds, !(seconds >= 0 && seconds <= 1e9) {
            throw ValidationError("--for must not be negative.")
        }
        if seconds != nil, !follow { throw ValidationError("--for requires --follow.") }
    }

    func run() async throws {
        try format.require(follow ? [.human, .jsonl] : OutputFormat.allCases, of: "tail")
        let command = self
        let file = FollowedFile(try store.path())
        let storage = try store.openForReading()
        var (position, isEmpty) = try await storage.readHistory { store in try command.begin(store) }
        if follow {
            let seconds = seconds
            let commits = FollowedCommits.stream(of: storage) { FollowDeadline.start(for: seconds, on: file, $0) }
            for await _ in commits {
                let last = position
                position = try await storage.readHistory { store in
                    store.head.position > last ? try command.write(after: last, store) : last
                }
                isEmpty = isEmpty && position == last
            }
            if StandardOutput.isReaderGone { throw BrokenPipe() }
            try file.check()
        }
        try await storage.close()
        if isEmpty, !follow { throw ExitStatus.negative }
    }

    /// Writes the existing events.
    ///
    /// - Returns: The head at which it read, and whether nothing passed the filters.
    private func begin(_ store: HistoryReader) throws -> (head: Int64, isEmpty: Bool) {
        let output = ResultOutput(format)
        var filter = try store.filter(filter, includesSchema: schema)
        if let from {
            filter.logRange.after = max(filter.logRange.after, try store.position(of: from))
            filter.query.positions = filter.logRange.positions
        }
        if output.format == .csv || output.format == .md { try output.titles(StorageEvent.cellTitles) }
        var positions: [Int64] = []
        let scan = ChangeScan(store: store, filter: filter)
        var isEmpty = true
        let limit = limit ?? Self.usualLimit
        if from == nil {
            if limit > 0 {
                try scan.forEachEvent(descending: true) { batch, index, _ in
                    positions.append(batch.header.first + Int64(index))
                    return positions.count < limit
                }
            }
            if let first = positions.last {
                filter.logRange.after = first - 1
                filter.query.positions = filter.logRange.positions
                isEmpty = try !Self.write(ChangeScan(store: store, filter: filter), to: output)
            }
        } else {
            isEmpty = try !Self.write(scan, to: output)
        }
        let isNegative = isEmpty && filter.isNarrow && limit > 0
        output.needsReader = !isNegative
        if isNegative, !follow, output.format == .human { try output.line("No event matches.", .dim) }
        try output.finish()
        return (store.head.position, isNegative)
    }

    /// Writes the events after a position.
    ///
    /// - Returns: The head at which it read.
    private func write(after last: Int64, _ store: HistoryReader) throws -> Int64 {
        let output = ResultOutput(format)
        // `--until` may be a time after the head, so it is resolved again each time.
        var filter = try store.filter(filter, includesSchema: schema)
        filter.logRange.after = max(filter.logRange.after, last)
        filter.query.positions = filter.logRange.positions
        _ = try Self.write(ChangeScan(store: store, filter: filter), to: output)
        try output.flush()
        return store.head.position
    }

    /// - Returns: Whether there was anything to write.
    private static func write(_ scan: ChangeScan, to output: ResultOutput) throws -> Bool {
        var isEmpty = true
        try scan.forEachEvent(descending: false) { batch, index, commit in
            isEmpty = false
            let event = batch.event(at: index, catalog: scan.store.catalog, commit: commit)
            switch output.format {
            case .human:
                try output.line(event.headline(showsTarget: true))
                for line in event.columnLines(indent: 4) { try output.line(line) }
            case .json, .jsonl: try output.record(EventRecord(event: event))
            case .csv, .md: for cells in event.cells() { try output.row(cells) }
            }
            try output.flushIfDue()
            return true
        }
        return !isEmpty
    }
}
