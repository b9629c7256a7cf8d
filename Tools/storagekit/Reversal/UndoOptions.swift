import ArgumentParser

/// What undo and redo have in common: the newest commit is found by them, not named.
struct UndoOptions: ParsableArguments {
    // Who names a commit wants another command.
    @Argument(help: .hidden)
    var commits: [String] = []

    @Option(name: .customLong("of"), help: "Only commits of this actor.")
    var author: String?

    func validate() throws {
        guard let commit = commits.first else { return }
        throw ValidationError(
            "This takes the most recent commit; it can't be named.\nTo take another one back: storagekit revert \(commit)"
        )
    }
}
