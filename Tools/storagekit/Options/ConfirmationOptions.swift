import ArgumentParser

/// The options of every command that writes: a dry run, and no confirmation.
struct ConfirmationOptions: ParsableArguments, Confirming {
    @Flag(name: .long, help: "Only show what would be done.")
    var dryRun = false

    @Flag(name: [.short, .long], help: "Don't ask for confirmation.")
    var yes = false
}
