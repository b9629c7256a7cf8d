import ArgumentParser

/// A tool of the server: a read-only command, with the arguments that are useful to a program.
struct MCPTool: Sendable {
    /// The form of the command's JSON Lines.
    enum Answer: Sendable {
        /// A row on each line.
        case rows([MCPField])
        /// One object. If one of its members is a list that may be long, its elements are the rows.
        case document([MCPField], list: String? = nil, rows: [MCPField] = [])
    }

    /// How to find the rest of a long answer after the store has changed.
    enum Continuation: Sendable {
        /// With `--until` at the state of the first part.
        case until
        /// With `--at` at that state.
        case at
        /// Only if the named points still have the same positions.
        case samePoints
        /// Only if the store hasn't changed.
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
    /// The statuses besides success and a negative answer that the command ends with after a whole answer.
    let verdicts: [ExitStatus]
    /// What to request instead if an answer is too long.
    let narrower: String
    /// Its description, if it does less than the command's help says.
    let about: String?

    init(
        _ name: String, _ title: String, _ type: any ParsableCommand.Type, command: [String]? = nil,
        _ parameters: [MCPParameter], _ answer: Answer, continuation: Continuation = .sameState,
        verdicts: [ExitStatus] = [], narrower: String = "Ask for less.", about: String? = nil
    ) {
        self.name = name
        self.title = title
        self.type = type
        self.command = command ?? [name]
        self.parameters = parameters
        self.answer = answer
        self.continuation = continuation
        self.verdicts = verdicts
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

    /// Returns the words of the command line for the arguments of a call.
    ///
    /// - Parameter arguments: Values as JSON, by name.
    /// - Throws: `usage` if one is missing, unknown, or of another type.
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
