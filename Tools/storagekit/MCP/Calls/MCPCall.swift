import Foundation
import Synchronization

/// One call of a tool: a child process of this program runs the command, and its answer is read up to the limits.
///
/// A separate process can be ended at any moment, whatever the command does, and a crash is only an error. `Sendable`: one thread runs it, any may
/// cancel it.
final class MCPCall: Sendable {
    enum Outcome: Sendable {
        /// An object in JSON.
        case answer(String)
        /// What went wrong and what to do, as text.
        case failure(String)
        case cancelled
    }

    private struct State {
        var isCancelled = false
        var child: ChildProcess?
    }

    let question: MCPQuestion
    let store: String
    let limits: MCPLimits
    let cursors: MCPCursors
    private let state = Mutex(State())

    init(_ question: MCPQuestion, of store: String, limits: MCPLimits, cursors: MCPCursors) {
        self.question = question
        self.store = store
        self.limits = limits
        self.cursors = cursors
    }

    /// Cancels the call, even before it begins.
    func cancel() {
        state.withLock { state in
            state.isCancelled = true
            state.child?.kill()
        }
    }

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Runs the command and waits for its answer.
    ///
    /// - Parameter progress: Called about once a second with the seconds that have passed.
    func run(progress: (_ seconds: Int) -> Void) -> Outcome {
        do {
            // Temporary files of a killed command are removed with this folder.
            let folder = try PrivateFolder()
            defer { folder.discard() }
            guard let child = try start(in: folder.path) else { return .cancelled }
            var reading = MCPReading(question, limits: limits)
            reading.read(child, progress: progress)
            // It has either ended, or the rest isn't needed.
            child.kill()
            let status = child.wait()
            if isCancelled { return .cancelled }
            return try answer(reading, status: status)
        } catch {
            return .failure(CommandError(wrapping: error).rendered(style: .plain))
        }
    }

    /// - Parameter folder: For its temporary files.
    private func start(in folder: String) throws(CommandError) -> ChildProcess? {
        var environment = ProcessInfo.processInfo.environment
        environment["TMPDIR"] = folder
        environment[StoreOption.environmentKey] = nil
        environment[ServedCommand.environmentKey] = "\(Int(limits.seconds.rounded(.up)) + 5)"
        environment[TimeDisplay.environmentKey] = TimeDisplay.utc.rawValue
        let words = question.pinnedWords
        let name = question.tool.command.count
        let arguments = words[..<name] + ["--format=jsonl", "--store=\(store)"] + words[name...]
        if isCancelled { return nil }
        let child = try ChildProcess(Self.program, Array(arguments), environment: environment)
        return state.withLock { state in
            state.child = child
            if state.isCancelled { child.kill() }
            return child
        }
    }

    /// The path of this program. On Linux it works even if the file was replaced meanwhile.
    private static let program: String = {
        #if os(Linux)
            "/proc/self/exe"
        #else
            Bundle.main.executablePath ?? CommandLine.arguments[0]
        #endif
    }()
}
