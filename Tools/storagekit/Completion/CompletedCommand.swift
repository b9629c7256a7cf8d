import ArgumentParser

/// A command as completion needs it. What ArgumentParser reports of its options takes it long for all commands together, so
/// it is asked for one that was typed, and when it matters.
struct CompletedCommand {
    private let type: any ParsableCommand.Type

    init(_ type: any ParsableCommand.Type) { self.type = type }

    var name: String { type.configuration.commandName ?? type._commandName }
    var abstract: String { type.configuration.abstract }

    /// Those that help lists; help itself is one where there are any.
    var subcommands: [CompletedCommand] {
        type.configuration.subcommands.filter { $0.configuration.shouldDisplay }.map { CompletedCommand($0) }
    }

    var defaultSubcommand: CompletedCommand? { type.configuration.defaultSubcommand.map { CompletedCommand($0) } }

    /// The options and arguments.
    func arguments() -> [CommandDescription.Argument] {
        // Without them there is nothing to offer.
        (try? CommandDescription.read(type._dumpHelp()))?.arguments ?? []
    }
}
