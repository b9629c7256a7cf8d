import Synchronization

/// The questions whose answers were truncated, by their clients' cursors. The oldest are dropped.
///
/// `Sendable`: calls on several threads add to it.
final class MCPCursors: Sendable {
    private static let capacity = 100

    private struct State {
        var questions: [Int: MCPQuestion] = [:]
        var last = 0
    }

    private let state = Mutex(State())

    func add(_ question: MCPQuestion) -> String {
        state.withLock { state in
            state.last += 1
            state.questions[state.last] = question
            state.questions[state.last - Self.capacity] = nil
            return "\(question.tool.name)-\(state.last)"
        }
    }

    /// - Throws: `notFound` if the cursor belongs to another tool, was dropped, or never existed.
    func question(for cursor: String, of tool: MCPTool) throws(CommandError) -> MCPQuestion {
        let prefix = tool.name + "-"
        let question = cursor.hasPrefix(prefix) ? Int(cursor.dropFirst(prefix.count)).flatMap(found) : nil
        guard let question, question.tool.name == tool.name else {
            throw CommandError(
                .notFound, "There is no cursor \"\(cursor)\" of \(tool.name).",
                why:
                    "A cursor is good for the tool and the process that gave it, while it is among the last \(Self.capacity).",
                next: "Ask without a cursor.")
        }
        return question
    }

    private func found(_ number: Int) -> MCPQuestion? { state.withLock { $0.questions[number] } }
}
