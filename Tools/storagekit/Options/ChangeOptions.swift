import ArgumentParser
import Foundation
import StorageKit

/// What every command has that changes a store: who did it and why is in the log afterwards.
struct ChangeOptions: ParsableArguments {
    @OptionGroup var confirmation: ConfirmationOptions

    @Option(name: [.customShort("m"), .long], help: "The reason, recorded in the log.")
    var reason: String?

    var dryRun: Bool { confirmation.dryRun }

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

    func confirm(_ question: String) throws { try confirmation.confirm(question) }
}
