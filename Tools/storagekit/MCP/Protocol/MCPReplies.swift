import Synchronization

/// Collects the responses to a batch, which are sent as one array with the last one.
///
/// `Sendable`: responses arrive on several threads.
final class MCPReplies: Sendable {
    private struct State {
        var missing: Int
        var responses: [String] = []
    }

    private let state: Mutex<State>
    private let output: MCPOutput

    init(_ count: Int, to output: MCPOutput) {
        state = Mutex(State(missing: count))
        self.output = output
    }

    /// - Parameter response: nil for a notification, and for a call that was cancelled.
    func add(_ response: String?) {
        let whole: String? = state.withLock { state in
            if let response { state.responses.append(response) }
            state.missing -= 1
            guard state.missing == 0, !state.responses.isEmpty else { return nil }
            return "[\(state.responses.joined(separator: ","))]"
        }
        if let whole { output.write(whole) }
    }
}
