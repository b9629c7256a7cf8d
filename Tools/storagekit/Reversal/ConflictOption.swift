import ArgumentParser

/// What commands that revert changes do about conflicts with later changes.
struct ConflictOption: ParsableArguments {
    @Option(help: "What to do on conflict: abort, skip or overwrite.")
    var onConflict: ConflictChoice = .abort
}
