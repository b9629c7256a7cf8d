/// What ArgumentParser reports of a command and its options, as far as the manual needs it.
struct CommandDescription: Decodable {
    struct Document: Decodable {
        let command: CommandDescription
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
    let abstract: String?
    let discussion: String?
    let subcommands: [CommandDescription]?
    let arguments: [Argument]?
}
