import ArgumentParser

/// What every command has that writes something: to look first, and not to be asked.
struct ConfirmationOptions: ParsableArguments, Confirming {
    @Flag(name: .long, help: "Only show what would be done.")
    var dryRun = false

    @Flag(name: [.short, .long], help: "Don't ask for confirmation.")
    var yes = false
}
