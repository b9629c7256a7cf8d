import ArgumentParser

/// The words of a command line before ArgumentParser reads them: it takes options only after the command that has them, and
/// says of a mistyped command that it is an unexpected argument.
enum CommandWords {
    /// Topics that `help` knows beside the commands.
    static let topics = ["points": points]

    /// The words with options that stand before the command moved behind its name: `-s app.sqlite log`.
    ///
    /// - Throws: `usage` where the first word isn't a command.
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

    /// Whether the words ask for help with the tool or a command.
    static func isHelp(_ words: [String]) -> Bool {
        words.first == "help" || words.prefix { $0 != "--" }.contains { $0 == "--help" || $0 == "-h" }
    }

    /// The text of `help TOPIC`; nil where something else was asked for.
    static func topic(_ words: [String]) -> String? {
        guard words.count == 2, words[0] == "help" else { return nil }
        return topics[words[1]]
    }

    /// The options that may stand before the command.
    static let options = ["-s", "--store", "--format", "--color", "--time"]

    /// Those that help lists.
    private static func displayedNames(of root: any ParsableCommand.Type) -> [String] {
        root.configuration.subcommands.filter { $0.configuration.shouldDisplay }.map { name(of: $0) }
    }

    private static func name(of command: any ParsableCommand.Type) -> String {
        command.configuration.commandName ?? command._commandName
    }

    private static func unknown(_ word: String, among names: [String]) -> CommandError {
        let similar = Suggestions.nearest(to: word, among: names)
        return CommandError(
            .usage, "There is no command \"\(word)\".",
            next: similar.isEmpty
                ? "Type storagekit --help for the list." : "Did you mean \(similar.joined(separator: ", "))?")
    }

    private static let points = """
        POINTS in history, wherever a command takes one:

          @1234, @1234~          a position; the state just before it
          t:77                   commit 77
          2024-05-01T10:00:00Z   a time; without an offset it is in the zone of --time
          2024-05-01             the start of a day; also "2024-05-01 10:00"
          today, "yesterday 14:00"
          -2h, -1d12h, now       that long ago, in w d h m s
          head, head~5, head^    the newest commit; commits before it
          tag:NAME, tag:NAME~2   what was tagged; commits before it

        RANGES: A..B is what came after A, up to and including B; A.. ends at the head, ..B begins with the first event.

        TARGETS: users is a table, users/42 a row, users/42#name a cell. Write %2F for / in a table's name, %23 for #, \
        %2C for a comma inside one part of a key of several columns, and %25 for a percent sign before such a code.

        ZONE: on a terminal, times are read and shown in your time zone (TZ), elsewhere in UTC; --time utc or --time local \
        decides, and so does STORAGEKIT_TIME. JSON, CSV and Markdown always have UTC.

        """
}
