import ArgumentParser

/// A command as completion needs it. ArgumentParser takes long to describe the options of all commands, so they are only requested for the typed
/// command, when needed.
struct CompletedCommand {
    private let type: any ParsableCommand.Type

    init(_ type: any ParsableCommand.Type) { self.type = type }

    var name: String { type.configuration.commandName ?? type._commandName }
    var abstract: String { type.configuration.abstract }

    /// The subcommands that help lists; `help` itself is one if there are any.
    var subcommands: [CompletedCommand] {
        type.configuration.subcommands.filter { $0.configuration.shouldDisplay }.map { CompletedCommand($0) }
    }

    var defaultSubcommand: CompletedCommand? { type.configuration.defaultSubcommand.map { CompletedCommand($0) } }

    /// The options and arguments.
    func arguments() -> [CommandDescription.Argument] {
        // Without a description there is nothing to offer.
        (try? CommandDescription.read(type._dumpHelp()))?.arguments ?? []
    }
}
