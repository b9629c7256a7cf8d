import ArgumentParser
import Foundation
import StorageKit

/// `storagekit guard`: prevents other programs from changing tables without the log.
struct GuardCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "guard", abstract: "Refuse writes of other programs to the tables.",
        discussion: """
            With the guard on, sqlite3 and other programs can read the tables, but INSERT, UPDATE and DELETE fail with a \
            message that says why. StorageKit, and storagekit exec, write as before. Copies and backups keep the setting, \
            and later tables get it. It prevents mistakes only: a program can drop the triggers or a whole table. status \
            exits with status 1 if the guard is off or incomplete; on completes it.

              storagekit guard on -s app.sqlite --dry-run
              storagekit guard on -s app.sqlite --reason "only the app writes"
              storagekit guard status -s app.sqlite
            """)

    enum Action: String, CaseIterable, ExpressibleByArgument {
        case on, off, status
    }

    @Argument(help: "on, off or status.")
    var action: Action

    @OptionGroup var store: StoreOption

    @OptionGroup var change: ChangeOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        guard action == .status else { return }
        if change.reason != nil { throw ValidationError("--reason requires on or off.") }
        if change.dryRun { throw ValidationError("--dry-run requires on or off.") }
    }

    func run() async throws {
        try format.require([.human, .json, .jsonl], of: "guard")
        let before = try await status()
        guard action != .status else {
            try write(before)
            if !before.isOn || !before.unguarded.isEmpty { throw ExitStatus.negative }
            return
        }
        let isOn = action == .on
        let isDone = before.isOn == isOn && before.unguarded.isEmpty
        guard !change.dryRun, !isDone else {
            let after = GuardRecord(isOn: isOn, tables: before.tables, unguarded: [], isDryRun: change.dryRun)
            return try write(after, isDone: isDone)
        }
        try change.confirmIfAttended(
            isOn
                ? "Other programs won't be able to write to \(NumberText.count(before.tables, "table")). Continue?"
                : "Other programs will be able to write past the log. Continue?")
        let commit = try await set(isOn)
        let after = try await status()
        try OutputFailure.reporting(commit: commit) { try write(after) }
    }

    /// - Returns: The commit that records it.
    private func set(_ isOn: Bool) async throws -> Int64? {
        let (operation, metadata) = (StorageOperation("guard \(action.rawValue)"), change.metadata)
        return try await store.write(isDryRun: false) { storage in
            try await storage.setWriteGuard(isOn)
            return try await storage.engine.record(operation, metadata: metadata).commit
        }
    }

    private func status() async throws -> GuardRecord {
        try await store.read { store in
            let isOn = try WriteGuard.isOn(store.connection)
            let unguarded = isOn ? try WriteGuard.unguarded(store.catalog, store.connection).map(\.name) : []
            return GuardRecord(isOn: isOn, tables: store.catalog.live.count, unguarded: unguarded, isDryRun: false)
        }
    }

    private func write(_ record: GuardRecord, isDone: Bool = false) throws {
        let output = ResultOutput(format)
        output.needsReader = false
        if output.format != .human {
            try output.document(record)
        } else if isDone {
            try output.line("Nothing to do: the guard is \(action.rawValue) already.")
        } else if record.isDryRun {
            try output.line(
                "The guard would be \(action.rawValue): \(NumberText.count(record.tables, "table")).")
        } else if !record.isOn {
            try output.line("The guard is off: other programs can write past the log.")
        } else if record.unguarded.isEmpty {
            try output.line("The guard is on: \(NumberText.count(record.tables, "table")).", .added)
        } else {
            try output.line("The guard is on, but not for \(Suggestions.list(record.unguarded)).", .changed)
            let option = store.store.map { " -s \($0.quotedAsShellWord)" } ?? ""
            try output.line("next: storagekit guard on\(option)", .dim)
        }
        try output.flush()
    }
}
