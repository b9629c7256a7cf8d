import ArgumentParser

/// A tool of the server: a command that reads, with the arguments that make sense for a program.
struct MCPTool: Sendable {
    /// What the command writes as JSON Lines.
    enum Answer: Sendable {
        /// A row on each line.
        case rows([MCPField])
        /// One object. If one of its members is a list that may be long, its elements are the rows.
        case document([MCPField], list: String? = nil, rows: [MCPField] = [])
    }

    /// How the rest of a long answer is found again when the store has changed meanwhile.
    enum Continuation: Sendable {
        /// With `--until` at the state of the first part.
        case until
        /// With `--at` at that state.
        case at
        /// The points that were named must stand for the same positions.
        case samePoints
        /// The store must not have changed.
        case sameState
    }

    let name: String
    let title: String
    let type: any ParsableCommand.Type
    /// The words that name the command.
    let command: [String]
    let parameters: [MCPParameter]
    let answer: Answer
    let continuation: Continuation
    /// What to ask instead, where an answer is too long.
    let narrower: String
    /// What it does, where that is less than what the command says of itself.
    let about: String?

    init(
        _ name: String, _ title: String, _ type: any ParsableCommand.Type, command: [String]? = nil,
        _ parameters: [MCPParameter], _ answer: Answer, continuation: Continuation = .sameState,
        narrower: String = "Ask for less.", about: String? = nil
    ) {
        self.name = name
        self.title = title
        self.type = type
        self.command = command ?? [name]
        self.parameters = parameters
        self.answer = answer
        self.continuation = continuation
        self.narrower = narrower
        self.about = about
    }

    /// Whether a long answer comes in parts.
    var hasRows: Bool {
        switch answer {
        case .rows: true
        case .document(_, let list, _): list != nil
        }
    }

    // MARK: Arguments

    /// The words of the command line for the arguments of a call.
    ///
    /// - Parameter arguments: By their names, in JSON.
    /// - Throws: `usage` where one is missing, unknown, or of another kind.
    func words(for arguments: [String: String]) throws(CommandError) -> [String] {
        let known = parameters.map(\.name) + (hasRows ? ["limit", "cursor"] : [])
        for name in arguments.keys.sorted() where !known.contains(name) {
            let similar = Suggestions.nearest(to: name, among: known)
            throw CommandError(
                .usage, "\(self.name) has no argument \"\(name)\".",
                next: similar.isEmpty
                    ? "Its arguments are \(known.joined(separator: ", "))."
                    : "Did you mean \(similar.joined(separator: ", "))?")
        }
        var options: [String] = []
        var positional: [String] = []
        for parameter in parameters {
            guard let json = arguments[parameter.name], json != "null" else {
                guard !parameter.isRequired else {
                    throw CommandError(.usage, "\(name) needs the argument \"\(parameter.name)\".")
                }
                continue
            }
            let words = try parameter.words(for: json)
            if parameter.isPositional { positional += words } else { options += words }
        }
        return command + options + ["--"] + positional
    }
}
