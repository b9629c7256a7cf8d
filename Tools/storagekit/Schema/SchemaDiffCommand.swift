import ArgumentParser
import StorageLog

/// `storagekit schema diff`: how two points differ in tables and columns.
struct SchemaDiffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff", abstract: "Show how two points differ in tables and columns.",
        discussion: """
            Tables and columns are told apart by what they are, not by their names: one that was renamed is the same. \
            Rows are compared by storagekit diff.

              storagekit schema diff -s app.sqlite t:5
              storagekit schema diff -s app.sqlite tag:release-3 head --format jsonl
            """)

    @Argument(help: "The first point.", transform: { try PointArgument($0, now: SystemTime.now) })
    var from: PointArgument

    @Argument(
        help: "The second point; the present if it isn't given.",
        transform: { try PointArgument($0, now: SystemTime.now) })
    var to: PointArgument?

    @OptionGroup var store: StoreOption

    @Flag(name: .long, help: "End with status 1 if anything differs.")
    var exitCode = false

    @OptionGroup var format: FormatOptions

    func run() async throws {
        try format.require([.human, .json, .jsonl], of: "schema diff")
        let command = self
        let differs = try await store.read { store in
            let from = try store.points.position(of: command.from)
            let to = try store.points.position(of: command.to ?? .head)
            let changes = SchemaChange.all(
                from: try Catalog.load(store.connection, at: from), to: try Catalog.load(store.connection, at: to))
            let output = ResultOutput(command.format)
            if output.format == .human {
                try output.line("from @\(from) to @\(to)", .dim)
                for change in changes { for line in change.lines(indent: 0) { try output.line(line) } }
                if changes.isEmpty { try output.line("No table or column differs.", .dim) }
            } else {
                for change in changes { try output.record { change.write(to: &$0) } }
            }
            try output.finish()
            return !changes.isEmpty
        }
        if exitCode, differs { throw ExitStatus.negative }
    }
}
