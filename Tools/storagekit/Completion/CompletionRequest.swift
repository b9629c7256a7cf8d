/// The kinds of words that may be at the cursor of a command line.
struct CompletionRequest {
    typealias Argument = CommandDescription.Argument

    /// The commands that may follow; none if one is given.
    private(set) var commands: [CompletedCommand] = []
    /// The options that may follow.
    private(set) var options: [Argument] = []
    /// The kind of value at the cursor; nil if no value is allowed.
    private(set) var value: CompletedValue?
    /// The only allowed words; empty if others are allowed.
    private(set) var choices: [String] = []
    /// The store, as it is named before the cursor.
    private(set) var store: String?
    /// The tables that are named before the cursor.
    private(set) var tables: [String] = []
    /// The text before the value in its word, such as `--store=`.
    private(set) var prefix = ""

    private let tool: CompletedCommand
    private let leading: [String]
    private let topics: [String]

    /// - Parameters:
    ///   - words: The words after the name of the tool, without the one at the cursor.
    ///   - leading: The options that may precede the command.
    ///   - topics: The topics of help other than commands.
    init(
        _ words: [String], current: String, of tool: CompletedCommand, leading: [String] = [], topics: [String] = []
    ) {
        self.tool = tool
        self.leading = leading
        self.topics = topics
        read(words, current: current)
    }

    private mutating func read(_ words: [String], current: String) {
        var command = tool
        var path: [String] = []
        var arguments: [String] = []
        var pending: Argument?
        var isLiteral = false
        for word in words {
            if let option = pending {
                note(word, of: option)
                pending = nil
            } else if !isLiteral, word == "--" {
                isLiteral = true
            } else if !isLiteral, isOption(word) {
                let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
                guard let option = option(parts[0], of: command), option.kind == .option else { continue }
                if parts.count > 1, word.hasPrefix("--") { note(parts[1], of: option) } else { pending = option }
            } else if path.isEmpty, arguments.isEmpty, word == "help" {
                path = ["help"]
            } else if path != ["help"], arguments.isEmpty,
                let next = command.subcommands.first(where: { $0.name == word })
            {
                path.append(word)
                command = next
            } else {
                arguments.append(word)
            }
        }
        if arguments.isEmpty { commands = command.subcommands }
        if let next = command.defaultSubcommand {
            path.append(next.name)
            command = next
        }
        if let pending { return ask(for: pending) }
        if !isLiteral, isOption(current) || current == "-" {
            return askForOption(current, of: command, hasCommand: !path.isEmpty)
        }
        if path == ["help"] {
            choices = arguments.isEmpty ? topics : []
            return
        }
        guard !path.isEmpty else {
            choices = ["help"]
            return
        }
        askForArgument(arguments, of: command, named: path.joined(separator: " "))
    }

    private mutating func askForOption(_ current: String, of command: CompletedCommand, hasCommand: Bool) {
        commands = []
        if let equals = current.firstIndex(of: "="), current.hasPrefix("--") {
            guard let option = option(String(current[..<equals]), of: command) else { return }
            prefix = String(current[...equals])
            return ask(for: option)
        }
        options =
            hasCommand
            ? command.arguments().filter { $0.kind != .positional && $0.shouldDisplay }
            : leading.compactMap { option($0, of: command) }
    }

    private mutating func ask(for option: Argument) {
        commands = []
        choices = option.allValues ?? []
        let names = (option.names ?? []).map(\.text)
        value = choices.isEmpty ? names.lazy.compactMap { CompletedValue.options[$0] }.first ?? .text : nil
    }

    private mutating func askForArgument(_ arguments: [String], of command: CompletedCommand, named path: String) {
        let positional = command.arguments().filter { $0.kind == .positional }
        tables += arguments.compactMap { try? TargetArgument($0).table }
        guard let argument = arguments.count < positional.count ? positional[arguments.count] : positional.last,
            arguments.count < positional.count || argument.isRepeating
        else { return }
        choices = argument.allValues ?? []
        if choices.isEmpty { value = CompletedValue.ofArgument(arguments.count, of: path) }
    }

    private mutating func note(_ word: String, of option: Argument) {
        let names = (option.names ?? []).map(\.text)
        if names.contains("--store") { store = word }
        if names.contains("--table") { tables.append(word) }
    }

    /// A point like `-2h` is a value.
    private func isOption(_ word: String) -> Bool {
        word.hasPrefix("-") && word.count > 1 && word.dropFirst().first?.isNumber == false
    }

    /// Returns an option of the command, or one of those that may precede a command.
    private func option(_ name: String, of command: CompletedCommand) -> Argument? {
        func named(_ arguments: [Argument]) -> Argument? {
            arguments.first { $0.names?.contains { $0.text == name } ?? false }
        }
        if let found = named(command.arguments()) { return found }
        guard leading.contains(name) else { return nil }
        return tool.subcommands.first { $0.name == "log" }.flatMap { named($0.arguments()) }
    }
}
