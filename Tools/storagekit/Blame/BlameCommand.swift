import ArgumentParser
import StorageKit

/// `storagekit blame`: who set the values of a row.
struct BlameCommand: AsyncParsableCommand, FormattedPagedCommand {
    static let configuration = CommandConfiguration(
        commandName: "blame", abstract: "Show who last changed each value, when and why.",
        discussion: """
            Shows a row column by column, and a table by the last change of each row, newest first. --ignore skips \
            commits, so that changes before a bulk edit show: t:7, actor=NAME, app=NAME or reason~TEXT. The commit \
            that inserted a row is never skipped.

              storagekit blame -s app.sqlite users/42
              storagekit blame -s app.sqlite users/42#name --at -7d
              storagekit blame -s app.sqlite users --ignore actor=import -n 20
            """)

    @Argument(help: "The row, cell or table: users/42, users/42#name, users.", transform: { try TargetArgument($0) })
    var target: TargetArgument

    @OptionGroup var store: StoreOption

    // A point may begin with a hyphen (-2h), which would otherwise be taken for an option.
    @Option(
        name: .long, parsing: .unconditional, help: "The point to explain. Default: head.",
        transform: { try PointArgument($0, now: SystemTime.now) })
    var at: PointArgument?

    @Option(name: .long, help: "Only this column; may be repeated.")
    var column: [String] = []

    @Option(
        name: .long, help: "Ignore these commits; may be repeated.", transform: { try IgnoredCommits($0) })
    var ignore: [IgnoredCommits] = []

    @Option(name: [.customShort("n"), .customLong("limit")], help: "For a table: show at most this many rows.")
    var limit: Int?

    @OptionGroup var format: FormatOptions
    @OptionGroup var pager: PagerOption

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be at least 1.") }
        if limit != nil, target.id != nil { throw ValidationError("--limit applies to tables only.") }
        if target.column != nil, !column.isEmpty {
            throw ValidationError("A cell has one column: omit --column, or name the row.")
        }
    }

    func run() async throws {
        let command = self
        let status = try await store.read { store in
            for case let number? in command.ignore.map(\.number) where try store.index.commit(number) == nil {
                throw CommandError(missingCommit: number, head: store.head)
            }
            let position = try store.position(of: command.at ?? .head)
            let request = BlamePrinter.Request(
                target: command.target, position: position, columns: command.column, ignored: command.ignore,
                limit: command.limit)
            let printer = BlamePrinter(request, of: store, to: ResultOutput(command.format))
            return try command.target.id == nil ? printer.table() : printer.row(try store.row(command.target))
        }
        if let status { throw status }
    }
}
