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

    @OptionGroup var options: UndoOptions

    func run() async throws {
        let author = options.author
        try await options.reversal.run("Undo") { engine, policy, metadata, isDryRun in
            try await engine.undo(of: author, policy: policy, metadata: metadata, isDryRun: isDryRun)
        }
    }
}
