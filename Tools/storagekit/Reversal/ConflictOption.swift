import ArgumentParser

/// What the commands that revert changes do where a later change is in the way.
struct ConflictOption: ParsableArguments {
    @Option(help: "What to do on conflict: abort, skip or overwrite.")
    var onConflict: ConflictChoice = .abort
}
