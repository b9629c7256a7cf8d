import ArgumentParser
import StorageKit

/// What the commands have in common that take changes back.
struct ReversalOptions: ParsableArguments {
    @OptionGroup var store: StoreOption

    @Option(help: "What to do on conflict: abort, skip or overwrite.")
    var onConflict: ConflictChoice = .abort

    @OptionGroup var change: ChangeOptions
    @OptionGroup var format: FormatOptions

    /// What a command does with them.
    ///
    /// - Parameters:
    ///   - title: What is done, for the question.
    ///   - body: Does it, or tries it.
    func run(_ title: String, _ body: @escaping ReversalRun.Body) -> ReversalRun {
        ReversalRun(store: store, change: change, format: format, policy: onConflict.policy, title: title, body: body)
    }
}

/// What undo and redo have in common: the newest commit is found by them, not named.
struct UndoOptions: ParsableArguments {
    // Who names a commit wants another command.
    @Argument(help: .hidden)
    var commits: [String] = []

    @Option(name: .customLong("of"), help: "Only commits of this actor.")
    var author: String?

    @OptionGroup var reversal: ReversalOptions

    func validate() throws {
        guard let commit = commits.first else { return }
        throw ValidationError(
            "This takes the most recent commit; it can't be named.\nTo take another one back: storagekit revert \(commit)"
        )
    }
}
