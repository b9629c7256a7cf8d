import ArgumentParser
import Foundation
import StorageKit

/// What every command has that changes a store: who did it and why is in the log afterwards.
///
/// It has the options of ``ConfirmationOptions`` itself: in a debug build the parser checks a group again for each group around it, and
/// for each of its rules, which took longer than most commands.
struct ChangeOptions: ParsableArguments, Confirming {
    @Flag(name: .long, help: "Only show what would be done.")
    var dryRun = false

    @Flag(name: [.short, .long], help: "Don't ask for confirmation.")
    var yes = false

    @Option(name: [.customShort("m"), .long], help: "The reason, recorded in the log.")
    var reason: String?

    /// The commit's metadata: the operating-system user did it, with this tool.
    var metadata: CommitMetadata { CommitMetadata(actor: NSUserName(), app: "storagekit", reason: reason) }

    /// A reason that the log can't take must be refused before anything is done.
    func validate() throws {
        do {
            try metadata.validate()
        } catch let error as StorageError {
            throw ValidationError("\(error.message) \(error.remedy)")
        }
    }
}
