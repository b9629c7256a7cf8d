import ArgumentParser
import StorageKit

/// `storagekit redo`: brings back what was undone last.
struct RedoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "redo", abstract: "Redo the most recent undo.",
        discussion: """
            Works only if nothing was changed after the undo.

              storagekit redo -s app.sqlite --yes
            """)

    @OptionGroup var options: UndoOptions

    func run() async throws {
        let author = options.author
        try await options.reversal.run("Revert the undo") { storage, policy, metadata, isDryRun in
            try await storage.engine.redo(of: author, policy: policy, metadata: metadata, isDryRun: isDryRun)
        }
    }
}
