import ArgumentParser
import StorageKit

/// `storagekit schema log`: the changes of tables and columns, commit by commit.
struct SchemaLogCommand: AsyncParsableCommand, FormattedPagedCommand {
    static let configuration = CommandConfiguration(
        commandName: "log", abstract: "List schema changes, newest first.",
        discussion: """
            A TABLE may be given by any of its former names. Full-text indexes and projections have no history.

              storagekit schema log -s app.sqlite
              storagekit schema log users -s app.sqlite --reverse
              storagekit schema log -s app.sqlite --since tag:release-3 --format jsonl
            """)

    @Argument(help: "Tables to list. Default: all.")
    var tables: [String] = []

    @OptionGroup var store: StoreOption

    @Option(
        name: .long, parsing: .unconditional, help: "Only changes after this point.",
        transform: { try PointArgument($0, now: SystemTime.now) })
    var since: PointArgument?

    @Option(
        name: .long, parsing: .unconditional, help: "Only changes up to this point.",
        transform: { try PointArgument($0, now: SystemTime.now) })
    var until: PointArgument?

    @Option(name: [.customShort("n"), .customLong("limit")], help: "Stop after this many commits.")
    var limit: Int?

    @Flag(name: .long, help: "Oldest first.")
    var reverse = false

    @OptionGroup var format: FormatOptions
    @OptionGroup var pager: PagerOption

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be at least 1.") }
    }

    func run() async throws {
        try format.require([.human, .json, .jsonl], of: "schema log")
        let command = self
        let status = try await store.read { try command.run($0) }
        if let status { throw status }
    }

    /// - Returns: `negative` if filters were given and nothing matches.
    private func run(_ store: HistoryReader) throws -> ExitStatus? {
        let logRange = try store.logRange(nil, since: since, until: until)
        let output = ResultOutput(format)
        let wanted = try entities(store)
        var count = 0
        if !logRange.isEmpty {
            try SchemaHistory(store.log).forEachCommit(in: logRange.positions, descending: !reverse) { info, changes in
                let changes = changes.filter { tables.isEmpty || wanted.contains($0.entity.id) }
                guard !changes.isEmpty, let commit = try store.index.commit(info.number) else { return true }
                try write(changes, by: commit, isFirst: count == 0, in: store, to: output)
                count += 1
                try output.flushIfDue()
                return count < limit ?? Int.max
            }
        }
        output.needsReader = count > 0
        if count == 0, output.format == .human { try output.line("No schema changes.", .dim) }
        try output.finish()
        return count == 0 && (!tables.isEmpty || since != nil || until != nil) ? .negative : nil
    }

    /// Returns the entities that have or had one of the given names.
    private func entities(_ store: HistoryReader) throws -> Set<UInt32> {
        guard !tables.isEmpty else { return [] }
        var known: [ExactText: Set<UInt32>] = [:]
        try SchemaHistory(store.log).forEachCommit(in: 1...Int64.max, descending: false) { _, changes in
            for change in changes {
                for name in change.tableNames { known[ExactText(name), default: []].insert(change.entity.id) }
            }
            return true
        }
        let names = EntityNames(catalog: store.catalog)
        return try tables.reduce(into: []) { found, table in
            found.formUnion(try known[ExactText(table)] ?? Set(names.users(named: table).map(\.id)))
        }
    }

    private func write(
        _ changes: [SchemaChange], by commit: LogIndex.Commit, isFirst: Bool, in store: HistoryReader,
        to output: ResultOutput
    ) throws {
        guard output.format == .human else {
            for change in changes { try output.record(SchemaLogRecord(commit: commit.info, change: change)) }
            return
        }
        if !isFirst { try output.line() }
        let tags = try store.tags.tags(in: commit.positions)
        try output.line(CommitText.headline(commit.info, at: commit.positions, tags: tags))
        if commit.info.metadata.reason != nil { try output.line("    " + CommitText.reason(commit.info.metadata)) }
        for change in changes { for line in change.lines(indent: 4) { try output.line(line) } }
    }
}
