import ArgumentParser
import Foundation
import StorageKit

/// `storagekit guard`: keeps other programs from writing to tables past the log.
struct GuardCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "guard", abstract: "Refuse writes of other programs to the tables.",
        discussion: """
            With the guard on, sqlite3 and other programs can read the tables, but INSERT, UPDATE and DELETE fail with a \
            message that says why. StorageKit, and storagekit exec, write as before. Copies and backups keep the setting, \
            and later tables get it. It prevents mistakes only: a program can drop the triggers or a whole table. status \
            exits with status 1 if the guard is off or incomplete; on completes it.

              storagekit guard on -s app.sqlite
              storagekit guard status -s app.sqlite
            """)

    enum Action: String, CaseIterable, ExpressibleByArgument {
        case on, off, status
    }

    @Argument(help: "on, off or status.")
    var action: Action

    @OptionGroup var store: StoreOption

    @Option(name: [.customShort("m"), .long], help: "The reason, recorded in the log.")
    var reason: String?

    @OptionGroup var format: FormatOptions

    private var metadata: CommitMetadata { CommitMetadata(actor: NSUserName(), app: "storagekit", reason: reason) }

    func validate() throws {
        if action == .status, reason != nil { throw ValidationError("--reason requires on or off.") }
        do {
            try metadata.validate()
        } catch let error as StorageError {
            throw ValidationError("\(error.message) \(error.remedy)")
        }
    }

    func run() async throws {
        try format.require([.human, .json, .jsonl], of: "guard")
        let (action, metadata) = (action, metadata)
        if action != .status {
            try await store.write(isDryRun: false) { storage in
                try await storage.setWriteGuard(action == .on)
                try await storage.engine.record(StorageOperation("guard \(action.rawValue)"), metadata: metadata)
            }
        }
        let record = try await store.read { store in
            let isOn = try WriteGuard.isOn(store.connection)
            let unguarded = isOn ? try WriteGuard.unguarded(store.catalog, store.connection).map(\.name) : []
            return GuardRecord(isOn: isOn, tables: store.catalog.live.count, unguarded: unguarded)
        }
        try write(record)
        if action == .status, !record.isOn || !record.unguarded.isEmpty { throw ExitStatus.negative }
    }

    private func write(_ record: GuardRecord) throws {
        let output = ResultOutput(format)
        if output.format != .human {
            try output.document(record)
        } else if !record.isOn {
            try output.line("The guard is off: other programs can write past the log.")
        } else if record.unguarded.isEmpty {
            try output.line("The guard is on: \(NumberText.count(record.tables, "table")).", .added)
        } else {
            try output.line("The guard is on, but not for \(Suggestions.list(record.unguarded)).", .changed)
            try output.line("next: storagekit guard on", .dim)
        }
        try output.flush()
    }
}
