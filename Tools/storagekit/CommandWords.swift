import ArgumentParser

/// Prepares the words of a command line for ArgumentParser, which accepts options only after the command that has them, and reports a mistyped
/// command as an unexpected argument.
enum CommandWords {
    /// Topics of `help` other than commands.
    static let topics = ["points": PointHelp.text]

    /// Returns the words with options before the command moved after its name: `-s app.sqlite log`.
    ///
    /// - Throws: `usage` if the first word isn't a command.
    static func ordered(_ words: [String], for root: any ParsableCommand.Type) throws -> [String] {
        var leading: [String] = []
        var rest = words[...]
        while let word = rest.first, word.hasPrefix("-"),
            options.contains(where: { word == $0 || word.hasPrefix($0 + "=") })
        {
            leading.append(rest.removeFirst())
            if options.contains(word), let value = rest.first { leading.append(value); rest = rest.dropFirst() }
        }
        var command = root
        var names: [String] = []
        while let word = rest.first, let next = command.configuration.subcommands.first(where: { name(of: $0) == word })
        {
            names.append(rest.removeFirst())
            command = next
        }
        if names.isEmpty, let word = rest.first, !word.hasPrefix("-") {
            guard word == "help" else { throw unknown(word, among: displayedNames(of: root)) }
            let topic = rest.dropFirst().first { !$0.hasPrefix("-") }
            let known = displayedNames(of: root)
            if let topic, !known.contains(topic), topics[topic] == nil {
                throw unknown(topic, among: known + topics.keys)
            }
        }
        if names.isEmpty, rest.isEmpty, let option = leading.first {
            throw CommandError(
                .usage, "\(option) needs a command.", next: "Type: storagekit log \(leading.joined(separator: " "))")
        }
        return names + leading + rest
    }

    /// Returns whether the words request help for the tool or a command.
    static func isHelp(_ words: [String]) -> Bool {
        words.first == "help" || words.prefix { $0 != "--" }.contains { $0 == "--help" || $0 == "-h" }
    }

    /// Returns the text of `help TOPIC`; nil if the words are something else.
    static func topic(_ words: [String]) -> String? {
        guard words.count == 2, words[0] == "help" else { return nil }
        return topics[words[1]]
    }

    /// The options that may precede the command.
    static let options = ["-s", "--store", "--format", "--color", "--time"]

    /// The names of the commands that help lists.
    private static func displayedNames(of root: any ParsableCommand.Type) -> [String] {
        root.configuration.subcommands.filter { $0.configuration.shouldDisplay }.map { name(of: $0) }
    }

    private static func name(of command: any ParsableCommand.Type) -> String {
        command.configuration.commandName ?? command._commandName
    }

    private static func unknown(_ word: String, among names: [String]) -> CommandError {
        let what = "There is no command \"\(word)\"."
        if let next = FirstGuesses.next(forCommand: word) { return CommandError(.usage, what, next: next) }
        let similar = Suggestions.nearest(to: word, among: names)
        return CommandError(
            .usage, what,
            next: similar.isEmpty
                ? "Type storagekit --help for the list." : "Did you mean \(similar.joined(separator: ", "))?")
    }
}
