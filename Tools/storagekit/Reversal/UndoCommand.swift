import ArgumentParser
import StorageKit

/// `storagekit undo`: reverts the newest commit.
struct UndoCommand: ReversalCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo", abstract: "Undo the most recent commit.",
        discussion: """
            Run it again to undo the commit before; redo reverts the last undo. A commit whose changes are \
            all in conflict stays the next to undo. To undo another commit: revert. To take tables or rows back to a point: restore-state. For a new store from a backup: restore.

              storagekit undo -s app.sqlite --dry-run
              storagekit undo -s app.sqlite --of anna --yes
            """)

    @OptionGroup var options: UndoOptions
    @OptionGroup var store: StoreOption
    @OptionGroup var conflicts: ConflictOption
    @OptionGroup var change: ChangeOptions
    @OptionGroup var format: FormatOptions

    func reversalRun() async throws -> ReversalRun {
        let author = options.author
        return reversal("Undo") { storage, policy, metadata, isDryRun in
            try await storage.engine.undo(of: author, policy: policy, metadata: metadata, isDryRun: isDryRun)
        }
    }
}
