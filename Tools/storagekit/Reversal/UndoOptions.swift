import ArgumentParser

/// The common options of undo and redo, which find the newest commit themselves.
struct UndoOptions: ParsableArguments {
    // Accepted only to report that a named commit needs another command.
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
