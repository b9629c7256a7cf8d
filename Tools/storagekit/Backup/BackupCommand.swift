import ArgumentParser
import StorageKit

/// `storagekit backup`: a complete copy of a store that is in use.
struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Back up a store while it is in use.",
        discussion: """
            The backup is a snapshot as of one commit, regardless of concurrent writes. It appears under its name \
            only once it is complete, flushed and verified. Don't copy a store in use with cp or rsync: the copy \
            would be incomplete.

            A backup writes nothing to the store, so it isn't recorded in the log and there is no --reason.

              storagekit backup -s app.sqlite monday.sqlite --dry-run
              storagekit backup -s app.sqlite monday.sqlite
              storagekit backup -s app.sqlite latest.sqlite --force --format json

            To restore: storagekit restore monday.sqlite --to t:77 -o app.sqlite
            """)

    @Argument(help: "The new file.")
    var destination: String

    @OptionGroup var store: StoreOption

    @Flag(name: .long, help: "Overwrite the file if it exists and isn't in use.")
    var force = false

    @Flag(name: .long, help: "Don't verify the backup.")
    var noVerify = false

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup var format: FormatOptions

    func run() async throws {
        try format.require([.human, .json, .jsonl], of: "backup")
        let storage = try store.openForReading()
        if confirmation.dryRun {
            let plan = try await storage.engine.planBackup(to: destination, replacing: force)
            try await storage.close()
            return try write(plan)
        }
        try confirmation.confirmReplacing(destination, isForced: force)
        let bars = StageProgress { $0 == "copy" ? "pages" : "events" }
        defer { bars.finish() }
        let backup = try await UnfinishedFiles.removedBySignals {
            // As it was typed: names with a meaning of their own in SQLite, such as `:memory:`, are refused.
            try await storage.engine.backup(
                to: destination, replacing: force, verifying: !noVerify
            ) { bars.update($0, done: $1, of: $2) }
        }
        try await storage.close()
        bars.finish()
        try OutputFailure.reporting(
            "The backup was made", next: "Type: storagekit stats -s \(destination.quotedAsShellWord)"
        ) { try write(backup) }
    }

    private func write(_ backup: StoreBackup) throws {
        let output = ResultOutput(format)
        let isDone = !confirmation.dryRun
        if output.format == .human {
            let content = backup.position > 0 ? "@1..@\(backup.position) (t:\(backup.commit))" : "the empty store"
            let check = !isDone ? " in the store" : backup.isVerified ? ", verified" : ", not verified"
            try output.line(
                "\(isDone ? "Copied" : "Would be copied:") \(content) to \(destination).", isDone ? .added : .plain)
            try output.line("\(NumberText.grouped(Int(backup.bytes))) bytes\(check)", .dim)
        } else {
            try output.document(BackupRecord(backup: backup, path: destination, isDryRun: !isDone))
        }
        try output.flush()
    }
}
