import Foundation
import TestSupport

/// A program in a real terminal, that of tmux, which is typed into and looked at.
final class TerminalSession {
    /// Whether there is a tmux to run it in.
    static let isAvailable = isInstalled("tmux")

    static func isInstalled(_ program: String) -> Bool {
        ["/usr/bin", "/bin", "/usr/local/bin", "/opt/homebrew/bin"]
            .contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(program)") }
    }

    /// Where the program runs, and its home.
    let folder: TemporaryFolder
    /// In the folder, so that no other session is touched, and of this session alone.
    private let socket: String

    /// - Parameters:
    ///   - command: What a shell runs in the folder.
    ///   - environment: Instead of that of the tests.
    init(
        _ command: String, columns: Int = 80, rows: Int = 24, environment: [String: String] = [:],
        in folder: TemporaryFolder
    ) throws {
        self.folder = folder
        socket = folder.path("tmux-\(UInt32.random(in: 0 ... .max))")
        var variables = ToolProcess.environment(store: nil)
        variables["COLUMNS"] = nil
        variables["TERM"] = nil
        variables["HOME"] = folder.url.path
        variables["PATH"] = "\(ToolProcess.program.deletingLastPathComponent().path):/usr/bin:/bin"
        variables["EDITRC"] = "/dev/null"
        variables.merge(environment) { $1 }
        let words = variables.map { "\($0.key)=\($0.value)" }
        try tmux(
            ["-f", "/dev/null", "new-session", "-d", "-x", "\(columns)", "-y", "\(rows)", "-c", folder.url.path, "env"]
                + ["-i", "TERM=screen"] + words + ["/bin/sh", "-c", command])
        try tmux(["set-option", "-g", "remain-on-exit", "on"])
    }

    deinit {
        // The server is of this session alone. Where it is gone already, so is the program.
        _ = try? tmux(["kill-server"])
    }

    /// Types text; a line feed is Enter.
    func type(_ text: String) throws {
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if index > 0 { try press("Enter") }
            guard !line.isEmpty else { continue }
            // At the end of a word, it would end the command of tmux.
            let word = line.hasSuffix(";") ? line.dropLast() + "\\;" : line
            try tmux(["send-keys", "-l", "--", String(word)])
        }
    }

    func resize(columns: Int, rows: Int) throws { try tmux(["resize-window", "-x", "\(columns)", "-y", "\(rows)"]) }

    /// Presses keys by tmux's names: Enter, Tab, C-c.
    func press(_ keys: String...) throws { try tmux(["send-keys"] + keys) }

    /// What the screen shows, without spaces at the ends of lines and without empty lines at its end.
    func screen() throws -> String {
        let text = try tmux(["capture-pane", "-p"])
        return String(text.reversed().drop { $0 == "\n" }.reversed())
    }

    /// Whether the program has ended, and with which status.
    func status() throws -> Int? {
        Int(try tmux(["display-message", "-p", "#{pane_dead_status}"]).trimmingCharacters(in: .whitespacesAndNewlines))
    }

    /// Waits until the screen shows a text.
    ///
    /// - Returns: The screen.
    @discardableResult
    func wait(for text: String) async throws -> String {
        var shown = ""
        try await wait { screen in
            shown = screen
            return screen.contains(text)
        }
        return shown
    }

    /// Waits for what the screen is to show.
    func wait(for isShown: (String) -> Bool) async throws {
        do {
            try await eventually {
                if isShown(try screen()) { return true }
                // A look is a process of its own.
                try await Task.sleep(for: .milliseconds(20))
                return false
            }
        } catch is NotEventually {
            throw OtherScreen(description: "The screen shows:\n\(try screen())")
        }
    }

    @discardableResult
    private func tmux(_ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        // The server would keep the pipes of other tests open, which wait for their ends.
        let closing =
            "for f in /proc/self/fd/*; do n=${f##*/}; (( n > 2 )) && eval \"exec $n>&-\"; done; exec tmux \"$@\""
        process.arguments = ["-c", closing, "tmux", "-u", "-S", socket] + arguments
        process.environment = ["PATH": "/usr/bin:/bin:/usr/local/bin:/opt/homebrew/bin", "LC_ALL": "C.UTF-8"]
        process.standardInput = FileHandle.nullDevice
        let (output, errors) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        try process.start()
        let data = output.fileHandleForReading.allBytes()
        process.waitForEnd()
        return String(decoding: data, as: UTF8.self)
    }
}

/// What the screen showed instead of what was waited for.
struct OtherScreen: Error, CustomStringConvertible {
    let description: String
}
