import Foundation
import GRDB
import TestSupport
import Testing

@testable import StorageKitTool
@testable import StorageLog

/// `storagekit ui` as people use it: in tmux.
@Suite(.enabled(if: TerminalSession.isAvailable, "tmux isn't installed"))
struct BrowserTerminalTests {
    private static let inNormalMode =
        "stty -a | grep -o ' icanon\\| echo \\|-icanon\\|-echo ' | tr -d '\\n'; echo ' done'\n"

    private static func shell(
        in folder: TemporaryFolder, columns: Int = 80, rows: Int = 24, environment: [String: String] = [:]
    ) throws -> TerminalSession {
        try TerminalSession(
            "exec /bin/sh -i", columns: columns, rows: rows,
            environment: ["PS1": "$ ", "TZ": "UTC", "LC_ALL": "C.UTF-8"].merging(environment) { $1 }, in: folder)
    }

    /// Opens the browser, does something, and expects the terminal to be as it was.
    private func run(
        _ sample: SampleStore, columns: Int = 80, rows: Int = 24, environment: [String: String] = [:],
        _ body: (TerminalSession) async throws -> Void
    ) async throws {
        let terminal = try Self.shell(in: sample.folder, columns: columns, rows: rows, environment: environment)
        try terminal.type("echo before; storagekit ui -s \(sample.path); echo status $?\n")
        try await terminal.wait(for: "? keys")
        try await body(terminal)
    }

    private func expectRestored(_ terminal: TerminalSession, status: Int) async throws {
        // What was there before is there again, and keys are lines again.
        let screen = try await terminal.wait(for: "status \(status)")
        #expect(screen.contains("before"))
        #expect(!screen.contains("? keys"))
        try terminal.type(Self.inNormalMode)
        try await terminal.wait(for: " icanon echo  done")
    }

    @Test("A size of its own", arguments: [(80, 24), (120, 40), (200, 50)])
    func sizes(columns: Int, rows: Int) async throws {
        let sample = try await SampleStore.shared.value
        try await run(sample, columns: columns, rows: rows) { terminal in
            try await terminal.wait(for: "beginning")
            // As a frame without a terminal has it, but for the store's name. The first commit is shown before the others.
            let expected = try await BrowserRun(sample.path, rows: rows, columns: columns)
            let frame = Array(expected.frame.text.dropFirst())
            try await expected.close()
            try await terminal.wait { screen in
                let lines = screen.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
                return lines.count >= rows && (!BrowserRun.isUTC || Array(lines.prefix(rows).dropFirst()) == frame)
            }
            try terminal.press("j", "Enter")
            try await terminal.wait(for: "commit t:")
            try terminal.press("PPage", "NPage", "G", "Enter")
            try terminal.press("Escape")
            try await terminal.wait(for: "q back")
            try terminal.press("Q")
            try await expectRestored(terminal, status: 0)
        }
    }

    @Test("What is shown fits after each change of the size")
    func resizing() async throws {
        try await run(SampleStore.shared.value) { terminal in
            try terminal.resize(columns: 120, rows: 30)
            try await eventually { try terminal.screen().split(separator: "\n").last?.contains("? keys") == true }
            try terminal.resize(columns: 39, rows: 12)
            try await terminal.wait(for: "At least 40 columns")
            try terminal.resize(columns: 60, rows: 12)
            try await terminal.wait(for: "Enter show")
            #expect(try terminal.screen().contains(">"))
            try terminal.press("q")
            try await expectRestored(terminal, status: 0)
        }
    }

    @Test("The terminal is as it was after Ctrl-C")
    func interrupted() async throws {
        try await run(SampleStore.shared.value) { terminal in
            try terminal.press("C-c")
            try await expectRestored(terminal, status: 0)
        }
    }

    @Test("The terminal is as it was after a signal", arguments: [SIGTERM, SIGHUP])
    func endings(signal: Int32) async throws {
        let sample = try await SampleStore()
        try await run(sample) { terminal in
            #expect(kill(try Self.process(of: sample.path), signal) == 0)
            try await expectRestored(terminal, status: 128 + Int(signal))
        }
    }

    @Test("It stops and continues")
    func suspending() async throws {
        try await run(SampleStore()) { terminal in
            try terminal.press("C-z")
            try await terminal.wait(for: "Stopped")
            try terminal.type(Self.inNormalMode)
            try await terminal.wait(for: " icanon echo  done")
            try terminal.type("clear; fg; echo status $?\n")
            try await terminal.wait(for: "? keys")
            try terminal.press("j")
            try terminal.press("q")
            try await terminal.wait(for: "status 0")
        }
    }

    @Test("An undo shows its plan, asks for a reason, and is in the log")
    func undo() async throws {
        let sample = try await SampleStore()
        try await run(sample) { terminal in
            try terminal.press("u")
            try await terminal.wait(for: "Would be done: 1 row deleted.")
            try terminal.press("Enter")
            try await terminal.wait(for: "reason")
            try terminal.type("wrong größe\n")
            try await terminal.wait(for: "Continue? [y/N]")
            try terminal.press("y")
            try await terminal.wait(for: "1 row deleted.")
            let screen = try await terminal.wait(for: "\"wrong größe\"")
            #expect(screen.contains("t:8"))
            try terminal.press("q")
            try await expectRestored(terminal, status: 0)
        }
        let log = try ToolProcess.run(["log", "-n", "1", "--format", "jsonl"], store: sample.path)
        #expect(log.output.contains(#""commit":8"#))
        #expect(log.output.contains(#""reason":"wrong größe""#))
    }

    @Test("A no, or Escape, changes nothing", arguments: ["n", "Escape"])
    func declined(answer: String) async throws {
        let sample = try await SampleStore()
        let before = try ToolProcess.run(["log"], store: sample.path).output
        try await run(sample) { terminal in
            try terminal.press("u")
            try await terminal.wait(for: "Would be done")
            try terminal.press("Enter", "Enter")
            try await terminal.wait(for: "Continue?")
            try terminal.press(answer)
            try await terminal.wait(for: answer == "n" ? "Nothing was changed." : "q back")
            try terminal.press("Q")
            try await expectRestored(terminal, status: 0)
        }
        #expect(try ToolProcess.run(["log"], store: sample.path).output == before)
    }

    @Test("A store that another program writes to says which one, and stays as it is")
    func busy() async throws {
        let sample = try await SampleStore()
        let writer = try SampleStore.open(sample.path)
        let before = writer.committed
        try await run(sample) { terminal in
            // Commits are counted from those of a timeline that was read.
            try await terminal.wait(for: "beginning")
            try terminal.press("u")
            try await terminal.wait(for: "Would be done")
            try terminal.press("Enter", "Enter")
            try await terminal.wait(for: "Continue?")
            try terminal.press("y")
            try await terminal.wait(for: "\(getpid())")
            #expect(writer.committed == before)
            // Commits that come meanwhile are counted, and shown when asked for.
            _ = try await writer.commit(CommitMetadata(actor: "zoe", reason: "meanwhile")) { _, db in
                try db.execute(sql: "INSERT INTO users(name) VALUES ('Zoe')")
            }
            try await terminal.wait(for: "1 new commit: f")
            try terminal.press("f")
            try await terminal.wait(for: "\"meanwhile\"")
            try terminal.press("q")
            try await expectRestored(terminal, status: 0)
        }
        try await writer.close()
    }

    @Test("Text of the store doesn't reach the terminal as control characters")
    func hostileText() async throws {
        let sample = try await SampleStore()
        let writer = try SampleStore.open(sample.path)
        _ = try await writer.commit(CommitMetadata(actor: "\u{1b}[31mred", reason: "\u{1b}]0;title\u{7}\u{9b}2J")) {
            _, db in
            try db.execute(
                sql: "INSERT INTO posts(id, title) VALUES (?, ?)",
                arguments: ["日本\u{1b}[2J", "e\u{301}\u{1b}c\u{202e}x 👩‍👩‍👧 end"])
        }
        try await writer.close()
        try await run(sample) { terminal in
            let screen = try await terminal.wait(for: "␛[31mred")
            #expect(screen.contains("␛]0;title"))
            try terminal.press("Enter")
            try await terminal.wait(for: "␛c<U+202E>x")
            #expect(try terminal.screen().contains("日本␛[2J"))
            try terminal.press("Q")
            try await expectRestored(terminal, status: 0)
        }
    }

    @Test("Without colours the selection is still seen")
    func noColor() async throws {
        try await run(SampleStore.shared.value, environment: ["NO_COLOR": "1"]) { terminal in
            try await terminal.wait(for: "\n> t:6")
            try terminal.press("q")
            try await expectRestored(terminal, status: 0)
        }
    }

    @Test("Without a terminal it says what to use")
    func noTerminal() async throws {
        let sample = try await SampleStore.shared.value
        let inPipe = try ToolProcess.run(["ui"], store: sample.path)
        #expect(inPipe.status == 2)
        #expect(inPipe.output == "")
        for command in ["storagekit log", "show", "tail"] { #expect(inPipe.errors.contains(command)) }
        let terminal = try Self.shell(in: sample.folder)
        try terminal.type("TERM=dumb storagekit ui -s \(sample.path); echo status $?\n")
        let screen = try await terminal.wait(for: "status 2")
        #expect(screen.contains("TERM is dumb"))
    }

    @Test("A store that isn't there is an error on the ordinary screen")
    func missingStore() async throws {
        let folder = try TemporaryFolder()
        let terminal = try Self.shell(in: folder)
        try terminal.type("storagekit ui -s nothing.sqlite; echo status $?\n")
        let screen = try await terminal.wait(for: "status 3")
        #expect(screen.contains("error:"))
    }

    /// The process that browses a store.
    private static func process(of path: String) throws -> pid_t {
        for name in try FileManager.default.contentsOfDirectory(atPath: "/proc") {
            guard let number = pid_t(name), let words = FileManager.default.contents(atPath: "/proc/\(name)/cmdline")
            else {
                continue
            }
            let arguments = words.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
            if arguments.dropFirst() == ["ui", "-s", path] { return number }
        }
        throw CommandError(.notFound, "No process browses \(path).")
    }
}
