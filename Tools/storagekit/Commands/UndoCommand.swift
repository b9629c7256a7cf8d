import ArgumentParser
import StorageProjections

/// `storagekit undo`: takes the newest commit back.
struct UndoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo", abstract: "Take the newest commit back that isn't undone yet.",
        discussion: """
            Again goes further back; redo brings back what was undone last.

              storagekit undo -s app.sqlite --dry-run
              storagekit undo -s app.sqlite --of anna --yes
            """)

    @OptionGroup var store: StoreOption

    @Option(name: .customLong("of"), help: "Only commits of this actor.")
    var author: String?

    @Option(help: "What to do where a row has changed since: refuse, skip or overwrite.")
    var onConflict: ConflictChoice = .refuse

    @OptionGroup var change: ChangeOptions
    @OptionGroup var format: FormatOptions

    func run() async throws {
        let author = author
        try await ReversalRun(
            store: store, change: change, format: format, policy: onConflict.policy, title: "Undo the newest commit"
        ) { engine, policy, metadata, isDryRun in
            try await engine.undo(of: author, policy: policy, metadata: metadata, isDryRun: isDryRun)
        }.run()
    }
}
