import ArgumentParser
import StorageKit

/// `storagekit redo`: redoes the last undo.
struct RedoCommand: ReversalCommand {
    static let configuration = CommandConfiguration(
        commandName: "redo", abstract: "Redo the most recent undo.",
        discussion: """
            Works only if nothing was changed after the undo.

              storagekit redo -s app.sqlite --yes
            """)

    @OptionGroup var options: UndoOptions
    @OptionGroup var store: StoreOption
    @OptionGroup var conflicts: ConflictOption
    @OptionGroup var change: ChangeOptions
    @OptionGroup var format: FormatOptions

    func reversalRun() async throws -> ReversalRun {
        let author = options.author
        return reversal("Revert the undo") { storage, policy, metadata, isDryRun in
            try await storage.engine.redo(of: author, policy: policy, metadata: metadata, isDryRun: isDryRun)
        }
    }
}
