/// A question to the store: the words of a command, and the first wanted row of its answer.
struct MCPQuestion: Sendable {
    let tool: MCPTool
    /// The words without the store and the format.
    let words: [String]
    /// The number of rows that earlier parts contained.
    var skipped = 0
    /// The maximum number of rows.
    var limit = MCPTool.defaultRows
    /// The state that the first part of the answer was read from; nil for a first part.
    var first: MCPReports?

    /// The words with an option that selects the state of the first part, if the command has one.
    var pinnedWords: [String] {
        guard let position = first?.position else { return words }
        func adding(_ option: String) -> [String] {
            let hasOption = words.prefix { $0 != "--" }.contains { $0.hasPrefix(option + "=") }
            return hasOption ? words : tool.command + ["\(option)=@\(position)"] + words.dropFirst(tool.command.count)
        }
        switch tool.continuation {
        case .until: return adding("--until")
        case .at: return adding("--at")
        case .samePoints, .sameState: return words
        }
    }

    /// Returns whether rows of this state continue those of the first part.
    func isContinued(in reports: MCPReports) -> Bool {
        guard let first else { return true }
        switch tool.continuation {
        case .until, .at: return true
        case .samePoints: return first.points == reports.points
        case .sameState: return first.position == reports.position
        }
    }

    /// Returns the question for the rows after a number of rows of this answer.
    func rest(after rows: Int, readFrom reports: MCPReports) -> MCPQuestion {
        var rest = self
        rest.skipped += rows
        if rest.first == nil { rest.first = reports }
        return rest
    }
}
