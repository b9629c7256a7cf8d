import ArgumentParser
import StorageProjections

/// `storagekit redo`: brings back what was undone last.
struct RedoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "redo", abstract: "Bring back what was undone last.",
        discussion: """
            Works as long as nothing else was changed after the undo.

              storagekit redo -s app.sqlite --yes
            """)

    @OptionGroup var store: StoreOption

    @Option(name: .customLong("of"), help: "Only undos by this actor.")
    var author: String?

    @Option(help: "What to do where a row has changed since: refuse, skip or overwrite.")
    var onConflict: ConflictChoice = .refuse

    @OptionGroup var change: ChangeOptions
    @OptionGroup var format: FormatOptions

    func run() async throws {
        let author = author
        try await ReversalRun(
            store: store, change: change, format: format, policy: onConflict.policy, title: "Redo the newest undo"
        ) { engine, policy, metadata, isDryRun in
            try await engine.redo(of: author, policy: policy, metadata: metadata, isDryRun: isDryRun)
        }.run()
    }
}
