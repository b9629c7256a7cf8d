import Foundation
import TestSupport
import Testing

@testable import StorageKitTool

/// A real terminal: a shell in a session of tmux, whose screen can be read.
final class TmuxTerminal: Sendable {
    private let socket = "storagekit-test-\(UUID().uuidString)"
    /// Where tmux is; nil where it isn't installed.
    static let program = ["/usr/bin/tmux", "/usr/local/bin/tmux", "/opt/homebrew/bin/tmux"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    private let server: Process

    /// - Parameter folder: Where the shell is; the tool is `storagekit` there.
    init(columns: Int = 80, rows: Int = 24, in folder: URL, environment: [String: String] = [:]) async throws {
        // A server in the background would be a process that nobody can wait for.
        server = Self.process(["-L", socket, "-f", "/dev/null", "-D"])
        try server.run()
        let variables = ["PS1": "$ ", "TZ": "UTC", "LC_ALL": "C.UTF-8", "TOOL": ToolProcess.program.path]
            .merging(environment) { $1 }
        let words = variables.sorted { $0.key < $1.key }.flatMap { ["-e", "\($0.key)=\($0.value)"] }
        let session =
            ["new-session", "-d", "-x", "\(columns)", "-y", "\(rows)", "-c", folder.path] + words + ["/bin/sh"]
        try await eventually { try self.tmux(session).status == 0 }
        type("storagekit() { \"$TOOL\" \"$@\"; }\n")
    }

    deinit {
        // It hangs up on its shell, and that on what it runs.
        server.terminate()
    }

    /// Types text; a line feed is Enter.
    func type(_ text: String) {
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if index > 0 { press("Enter") }
            if !line.isEmpty { _ = try? tmux(["send-keys", "-l", "--", String(line)]) }
        }
    }

    /// Presses keys by tmux's names, such as `C-c`, `Up`, `NPage`.
    func press(_ keys: String...) { _ = try? tmux(["send-keys"] + keys) }

    func resize(columns: Int, rows: Int) throws { try tmux(["resize-window", "-x", "\(columns)", "-y", "\(rows)"]) }

    /// What the terminal shows now.
    func screen() throws -> String { try tmux(["capture-pane", "-p"]).output }

    /// Waits until the terminal shows a text.
    @discardableResult
    func wait(for text: String, line: Int = #line) async throws -> String {
        var screen = ""
        do {
            try await eventually(within: .seconds(60), line: line) {
                screen = try self.screen()
                if screen.contains(text) { return true }
                // A look is a process of its own.
                try await Task.sleep(for: .milliseconds(20))
                return false
            }
        } catch {
            Issue.record("line \(line): \"\(text)\" isn't shown, but:\n\(screen)")
            throw error
        }
        return screen
    }

    @discardableResult
    private func tmux(_ arguments: [String]) throws -> (output: String, status: Int32) {
        let process = Self.process(["-L", socket, "-N"] + arguments)
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = output.fileHandleForReading.allBytes()
        process.waitUntilExit()
        return (String(decoding: text, as: UTF8.self), process.terminationStatus)
    }

    private static func process(_ arguments: [String]) -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program ?? "/usr/bin/tmux")
        process.arguments = arguments
        process.environment = ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TERM": "xterm"]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        return process
    }
}
