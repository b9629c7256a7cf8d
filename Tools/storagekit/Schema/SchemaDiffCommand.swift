import ArgumentParser
import StorageKit

/// `storagekit schema diff`: the differences in tables and columns between two points.
struct SchemaDiffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff", abstract: "Show the schema changes between two points.",
        discussion: """
            Tables and columns are compared by identity, not by name: a renamed one is the same. To compare rows, use \
            storagekit diff.

              storagekit schema diff -s app.sqlite t:5
              storagekit schema diff -s app.sqlite tag:release-3 head --format jsonl
            """)

    @Argument(help: "The first point.", transform: { try PointArgument($0, now: SystemTime.now) })
    var from: PointArgument

    @Argument(
        help: "The second point. Default: head.",
        transform: { try PointArgument($0, now: SystemTime.now) })
    var to: PointArgument?

    @OptionGroup var store: StoreOption

    @Flag(name: .long, help: "Exit with status 1 if anything differs.")
    var exitCode = false

    @OptionGroup var format: FormatOptions

    func run() async throws {
        try format.require([.human, .json, .jsonl], of: "schema diff")
        let command = self
        let differs = try await store.read { store in
            let from = try store.position(of: command.from)
            let to = try store.position(of: command.to ?? .head)
            let changes = SchemaChange.all(
                from: try Catalog.load(store.connection, at: from), to: try Catalog.load(store.connection, at: to))
            let output = ResultOutput(command.format)
            output.needsReader = !command.exitCode
            if output.format == .human {
                try output.line("from @\(from) to @\(to)", .dim)
                for change in changes { for line in change.lines(indent: 0) { try output.line(line) } }
                if changes.isEmpty { try output.line("No table or column differs.", .dim) }
            } else {
                for change in changes { try output.record(SchemaChangeRecord(change: change)) }
            }
            try output.finish()
            return !changes.isEmpty
        }
        if exitCode, differs { throw ExitStatus.negative }
    }
}
