import ArgumentParser
import Foundation
import StorageCore
import StorageLog

/// What every command has that changes rows.
struct ChangeOptions: ParsableArguments {
    @Flag(name: .long, help: "Only show what would be done.")
    var dryRun = false

    @Option(help: "Why, for the log.")
    var reason: String?

    @Flag(name: [.short, .long], help: "Don't ask before changing anything.")
    var yes = false

    /// The commit's metadata: the operating-system user did it, with this tool.
    var metadata: CommitMetadata { CommitMetadata(actor: NSUserName(), app: "storagekit", reason: reason) }

    /// Asks whether to go on.
    ///
    /// - Throws: `usage` where nobody can be asked; `negative` where the answer is no.
    func confirm(_ question: String) throws {
        if yes { return }
        guard Terminal(descriptor: 0).isTerminal else {
            throw CommandError(
                .usage, "Nothing was changed, because nobody can be asked: the input is no terminal.",
                next: "Look with --dry-run, then add --yes.")
        }
        FileHandle.standardError.write(Data("\(question) [y/N] ".utf8))
        let answer = readLine(strippingNewline: true)?.lowercased()
        guard answer == "y" || answer == "yes" else {
            throw CommandError(.negative, "Nothing was changed.")
        }
    }
}
