import ArgumentParser
import StorageLog
import StorageProjections

/// `storagekit revert`: takes one commit back.
struct RevertCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revert", abstract: "Take a commit back by a commit of its own.",
        discussion: """
            Each column is looked at by itself: where it still holds what the commit left, it gets what it held before. \
            What has changed since is a conflict: by default nothing is done then, and the conflicts are listed. Tables \
            and columns that the commit made stay. Ends with status 7 for conflicts, 8 where some were skipped.

              storagekit revert -s app.sqlite t:77 --dry-run
              storagekit revert -s app.sqlite t:77 --reason "wrong import" --yes
              storagekit revert -s app.sqlite t:77 --on-conflict skip
            """)

    @Argument(help: "The commit: t:77, head, @1234.", transform: { try PointArgument($0, now: SystemTime.now) })
    var point: PointArgument

    @OptionGroup var reversal: ReversalOptions

    func run() async throws {
        let point = point
        let number = try await reversal.store.read { try $0.points.commit(of: point).info.number }
        try await reversal.run("Take back") { engine, policy, metadata, isDryRun in
            try await engine.revert(number, policy: policy, metadata: metadata, isDryRun: isDryRun)
        }
    }
}
