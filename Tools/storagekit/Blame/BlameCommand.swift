import ArgumentParser
import StorageLog

/// `storagekit blame`: who set the values of a row.
struct BlameCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "blame", abstract: "Show for each value who set it last, when and why.",
        discussion: """
            A row is told column by column, a cell by itself, a table by the last change of each row, newest first. \
            --ignore looks through commits, so that what was set before a bulk edit shows: t:7, actor=NAME, app=NAME or \
            reason~TEXT. A row that began with such a commit keeps it.

              storagekit blame -s app.sqlite users/42
              storagekit blame -s app.sqlite users/42#name --at -7d
              storagekit blame -s app.sqlite users --ignore actor=import -n 20
            """)

    @Argument(help: "The row, cell or table: users/42, users/42#name, users.", transform: { try TargetArgument($0) })
    var target: TargetArgument

    @OptionGroup var store: StoreOption

    // A point may begin with a hyphen (-2h), which would otherwise be taken for an option.
    @Option(
        name: .long, parsing: .unconditional, help: "The state to explain; the newest if it isn't given.",
        transform: { try PointArgument($0, now: SystemTime.now) })
    var at: PointArgument?

    @Option(name: .long, help: "Only this column; may be repeated.")
    var column: [String] = []

    @Option(
        name: .long, help: "Look through these commits; may be repeated.", transform: { try IgnoredCommits($0) })
    var ignore: [IgnoredCommits] = []

    @Option(name: [.customShort("n"), .customLong("limit")], help: "Of a table, only the newest rows, this many.")
    var limit: Int?

    @OptionGroup var format: FormatOptions

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("-n takes a number from 1 on.") }
        if limit != nil, target.id != nil { throw ValidationError("-n is for tables: a row has all of its columns.") }
        if target.column != nil, !column.isEmpty {
            throw ValidationError("A cell has one column: leave out --column, or name the row.")
        }
    }

    func run() async throws {
        let command = self
        let status = try await store.read { store in
            for case let number? in command.ignore.map(\.number) where try store.index.commit(number) == nil {
                throw store.points.missing(commit: number)
            }
            let position = try store.points.position(of: command.at ?? .head)
            let printer = BlamePrinter(command, store, position)
            return try command.target.id == nil ? printer.table() : printer.row(try store.row(command.target))
        }
        if let status { throw status }
    }
}
