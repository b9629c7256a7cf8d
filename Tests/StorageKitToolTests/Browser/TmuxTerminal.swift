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

    /// - Parameter folder: Where the shell is; the tool is `storagekit` there.
    init(columns: Int = 80, rows: Int = 24, in folder: URL, environment: [String: String] = [:]) throws {
        let variables = ["PS1": "$ ", "TZ": "UTC", "LC_ALL": "C.UTF-8", "TOOL": ToolProcess.program.path]
            .merging(environment) { $1 }
        let words = variables.sorted { $0.key < $1.key }.flatMap { ["-e", "\($0.key)=\($0.value)"] }
        try tmux(
            ["new-session", "-d", "-x", "\(columns)", "-y", "\(rows)", "-c", folder.path] + words + ["/bin/sh"])
        type("storagekit() { \"$TOOL\" \"$@\"; }\n")
    }

    deinit { _ = try? tmux(["kill-server"]) }

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
    func screen() throws -> String { try tmux(["capture-pane", "-p"]) }

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
    private func tmux(_ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Self.program ?? "/usr/bin/tmux")
        process.arguments = ["-L", socket, "-f", "/dev/null"] + arguments
        process.environment = ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TERM": "xterm"]
        process.standardInput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = output.fileHandleForReading.allBytes()
        process.waitUntilExit()
        return String(decoding: text, as: UTF8.self)
    }
}
