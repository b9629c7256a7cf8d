/// What is asked of the store: the words of a command, and from which row on the answer is wanted.
struct MCPQuestion: Sendable {
    let tool: MCPTool
    /// Without the store and the format.
    let words: [String]
    /// Rows of the answer that were given already.
    var skipped = 0
    /// The most rows that are wanted.
    var limit = MCPTool.defaultRows
    /// What the first part of the answer was read from; nil for a first part.
    var first: MCPReports?

    /// The words, so that the state of the first part is read again where the command can do that.
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

    /// Whether rows of this state follow those of the first part.
    func isContinued(in reports: MCPReports) -> Bool {
        guard let first else { return true }
        switch tool.continuation {
        case .until, .at: return true
        case .samePoints: return first.points == reports.points
        case .sameState: return first.position == reports.position
        }
    }

    /// The question for what comes behind so many rows of this answer.
    func rest(after rows: Int, readFrom reports: MCPReports) -> MCPQuestion {
        var rest = self
        rest.skipped += rows
        if rest.first == nil { rest.first = reports }
        return rest
    }
}
