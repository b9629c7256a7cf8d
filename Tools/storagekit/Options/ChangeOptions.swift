import ArgumentParser
import Foundation
import StorageKit

/// The options of every command that changes a store; the log records the author and the reason.
///
/// It declares the options of ``ConfirmationOptions`` itself: in a debug build the parser validates a nested group repeatedly, once for each
/// enclosing group and each rule, which took longer than most commands.
struct ChangeOptions: ParsableArguments, Confirming {
    @Flag(name: .long, help: "Only show what would be done.")
    var dryRun = false

    @Flag(name: [.short, .long], help: "Don't ask for confirmation.")
    var yes = false

    @Option(name: [.customShort("m"), .long], help: "The reason, recorded in the log.")
    var reason: String?

    /// The commit's metadata: the operating-system user as the actor, and this tool as the app.
    var metadata: CommitMetadata { CommitMetadata(actor: NSUserName(), app: "storagekit", reason: reason) }

    /// Refuses a reason that the log can't store, before anything is done.
    func validate() throws {
        do {
            try metadata.validate()
        } catch let error as StorageError {
            throw ValidationError("\(error.message) \(error.remedy)")
        }
    }
}
