import Foundation

/// ArgumentParser's description of a command and its options, as far as the manual and completion need it.
struct CommandDescription: Decodable {
    private struct Document: Decodable {
        let command: CommandDescription
    }

    /// - Parameter report: ArgumentParser's description of the tool, as JSON.
    static func read(_ report: String) throws -> CommandDescription {
        try JSONDecoder().decode(Document.self, from: Data(report.utf8)).command
    }

    struct Argument: Decodable {
        enum Kind: String, Decodable {
            case positional, option, flag
        }

        struct Name: Decodable {
            let kind: String
            let name: String

            /// The name with its hyphens.
            var text: String { (kind == "long" ? "--" : "-") + name }
        }

        let kind: Kind
        let shouldDisplay: Bool
        let isOptional: Bool
        let isRepeating: Bool
        let names: [Name]?
        let valueName: String?
        let defaultValue: String?
        let allValues: [String]?
        let abstract: String?
        let discussion: String?

        var isCommon: Bool { names?.contains { $0.name == "help" || $0.name == "version" } ?? false }
    }

    let commandName: String
    /// Whether help and manual include it.
    let shouldDisplay: Bool
    let abstract: String?
    let discussion: String?
    let defaultSubcommand: String?
    let subcommands: [CommandDescription]?
    let arguments: [Argument]?
}
