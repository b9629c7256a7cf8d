import Foundation
import Synchronization

/// A server of the Model Context Protocol on standard input and output: one message for each line, in JSON-RPC 2.0.
///
/// In revisions with a handshake, clients begin with `initialize`; in later ones, each request contains its version. Several calls of tools run
/// concurrently, each in its own process.
///
/// `Sendable`: mutable state is behind a lock.
final class MCPServer: Sendable {
    /// The maximum number of concurrent calls; others wait.
    private static let width = 4
    private static let maximumCalls = 64

    struct State {
        /// The version agreed in the handshake; nil before.
        var version: MCPVersion?
        /// Running and waiting calls, by the ids of their requests.
        var calls: [String: MCPCall] = [:]
        /// Whether no further call may run.
        var isEnding = false
    }

    let store: String
    let limits: MCPLimits
    let output = MCPOutput()
    let cursors = MCPCursors()
    let state = Mutex(State())
    private let queue = OperationQueue()

    init(store: String, limits: MCPLimits) {
        self.store = store
        self.limits = limits
        queue.maxConcurrentOperationCount = Self.width
    }

    /// Answers a line.
    func receive(_ line: LineSplitter.Line) {
        guard case .text(let bytes) = line else {
            let text = "A message is longer than \(MCPInput.lineLimit) bytes. Ask for less at once."
            return output.write(MCPFailure(.invalidRequest, text).response(to: nil))
        }
        // Ignores blank lines, and carriage returns of other systems.
        let isBlank = bytes.allSatisfy { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\r") }
        guard !isBlank else { return }
        let values: [String]
        let isBatch: Bool
        do {
            (values, isBatch) = try MCPMessage.values(of: bytes)
        } catch {
            return output.write(MCPFailure(.parseError, "This isn't JSON. \(error)").response(to: nil))
        }
        guard isBatch else { return answer(values[0]) { [output] in if let text = $0 { output.write(text) } } }
        guard state.withLock({ $0.version?.hasBatches ?? false }), !values.isEmpty else {
            let text = "A line is one message; send each on a line of its own."
            return output.write(MCPFailure(.invalidRequest, text).response(to: nil))
        }
        let replies = MCPReplies(values.count, to: output)
        for value in values { answer(value) { replies.add($0) } }
    }

    /// Ends all calls, and those that are still to come.
    func cancelAll() {
        let calls = state.withLock { state in
            state.isEnding = true
            return Array(state.calls.values)
        }
        for call in calls { call.cancel() }
    }

    /// Waits until no call is left.
    func waitForCalls() { queue.waitUntilAllOperationsAreFinished() }

    /// Waits until no call is left, but not longer than some seconds.
    func waitForCalls(atMostSeconds seconds: Double) {
        let ended = DispatchSemaphore(value: 0)
        DispatchQueue.global().async { [self] in
            waitForCalls()
            ended.signal()
        }
        _ = ended.wait(timeout: .now() + seconds)
    }

    /// - Parameter reply: Called once, with nil if there is no response.
    private func answer(_ json: String, reply: @escaping @Sendable (String?) -> Void) {
        do {
            let message = try MCPMessage(json)
            guard let id = message.id else {
                receive(notification: message)
                return reply(nil)
            }
            guard let method = message.method else { return reply(nil) }
            do {
                try answer(method, message, id: id, reply: reply)
            } catch let failure as MCPFailure {
                reply(failure.response(to: id))
            }
        } catch let rejection as MCPMessage.Rejection {
            reply(rejection.failure.response(to: rejection.id))
        } catch {
            reply(MCPFailure(.invalidRequest, "\(error)").response(to: nil))
        }
    }

    private func receive(notification message: MCPMessage) {
        guard message.method == "notifications/cancelled",
            let id = message.parameters["requestId"].flatMap(MCPMessage.identifier)
        else { return }
        state.withLock { $0.calls[id] }?.cancel()
    }

    // MARK: Calls

    /// Runs a call as soon as fewer than the maximum are running.
    ///
    /// - Parameter ended: Called with its outcome.
    func start(
        _ call: MCPCall, id: String, progress: @escaping @Sendable (_ seconds: Int) -> Void,
        ended: @escaping @Sendable (MCPCall.Outcome) -> Void
    ) throws(MCPFailure) {
        let failure: MCPFailure? = state.withLock { state in
            guard state.calls[id] == nil else {
                return MCPFailure(.invalidRequest, "A request with this id is being answered; use another id.")
            }
            guard state.calls.count < Self.maximumCalls else {
                return MCPFailure(.tooManyCalls, "\(Self.maximumCalls) calls are waiting; wait for an answer first.")
            }
            state.calls[id] = call
            if state.isEnding { call.cancel() }
            return nil
        }
        if let failure { throw failure }
        queue.addOperation { [self] in
            let outcome = call.run(progress: progress)
            state.withLock { $0.calls[id] = nil }
            ended(outcome)
            // A client that no longer reads needs no answers.
            if output.isReaderGone { cancelAll() }
        }
    }
}
