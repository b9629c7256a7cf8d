import ArgumentParser
import Foundation
import StorageKit

/// `storagekit mcp`: a store for agents to read.
struct MCPCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mcp", abstract: "Let an agent read a store, over the Model Context Protocol.",
        discussion: """
            Serves on standard input and output; an agent's program starts it. Its tools are the commands that read, with \
            their arguments and their JSON, and plan_undo, which shows what an undo would change and returns the command \
            for a person to run. Nothing is changed. Each answer says the position and time of the state that it was \
            read from.

              storagekit mcp -s app.sqlite
              storagekit mcp -s app.sqlite --time-limit 10 --maximum-bytes 20000
            """)

    @OptionGroup var store: StoreOption

    @Option(help: "Maximum bytes of the rows of an answer.")
    var maximumBytes = MCPLimits().bytes

    @Option(help: "Maximum seconds of a call.")
    var timeLimit = MCPLimits().seconds

    func validate() throws {
        guard (1_000...(16 << 20)).contains(maximumBytes) else {
            throw ValidationError("--maximum-bytes must be from 1000 to \(16 << 20).")
        }
        guard timeLimit >= 0.1, timeLimit <= 3_600 else {
            throw ValidationError("--time-limit must be from 0.1 to 3600 seconds.")
        }
    }

    func run() async throws {
        let path = URL(fileURLWithPath: try store.path()).path
        guard !Terminal(descriptor: 0).isTerminal else {
            throw CommandError(
                .usage, "mcp talks to a program, and standard input is a terminal.",
                next:
                    "Name it in the program's settings, as command \"storagekit\" with arguments \"mcp\", \"-s\", \(path.quotedAsShellWord)."
            )
        }
        // A wrong name is reported at once, and not by each tool call.
        try await store.openForReading().close()
        let server = MCPServer(store: path, limits: MCPLimits(bytes: maximumBytes, seconds: timeLimit))
        let signals = Self.end(server)
        // Not on the cooperative pool, because it blocks on its input all the time.
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            Thread.detachNewThread {
                continuation.resume(with: Result { try MCPInput(server: server).run() })
            }
        }
        for signal in signals { signal.cancel() }
    }

    /// Ends all running commands when the server receives a terminating signal.
    private static func end(_ server: MCPServer) -> [any DispatchSourceSignal] {
        // Of its own: running calls may block all threads of the global queues, for seconds.
        let queue = DispatchQueue(label: "storagekit.mcp.signals")
        return [SIGTERM, SIGINT, SIGHUP].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler {
                server.cancelAll()
                // A call that has ended removes its folder, which may have a copy of the store.
                server.waitForCalls(atMostSeconds: MCPInput.graceSeconds)
                Foundation.exit(128 + number)
            }
            source.resume()
            return source
        }
    }
}
