import Foundation
import TestSupport
import Testing

@testable import StorageKitTool

/// The prompts of `sql` and `replay`, as somebody at a terminal uses them.
@Suite(.enabled(if: TerminalSession.isAvailable, "tmux isn't installed"))
struct PromptTests {
    private func session(_ command: String, in sample: SampleStore, state: String = "state") throws -> TerminalSession {
        try TerminalSession(
            "trap : INT; \(command); echo \"status $?\"; exec sleep 1000",
            environment: [
                "STORAGEKIT_STORE": sample.path, "XDG_STATE_HOME": sample.folder.path(state), "PAGER": "cat",
            ], in: sample.folder)
    }

    @Test("Queries of several lines, commands, errors, and the end")
    func queries() async throws {
        let session = try session("storagekit sql", in: await SampleStore())
        try await session.wait { $0.hasSuffix("sql>") }
        try session.type("SELECT id,")
        try session.press("Enter")
        try await session.wait { $0.hasSuffix("...>") }
        try session.type("';' AS mark FROM posts ORDER BY id;")
        try session.press("Enter")
        try await session.wait { $0.contains("a/1  ;") && $0.hasSuffix("sql>") }
        try session.type("\\x")
        try session.press("Enter")
        try session.type("SELECT id, title FROM posts;")
        try session.press("Enter")
        try await session.wait { $0.contains("-[ RECORD 2 ]-") && $0.hasSuffix("sql>") }
        try session.type("SELECT missing;")
        try session.press("Enter")
        try await session.wait { $0.contains("error:") && $0.hasSuffix("sql>") }
        try session.type("\\d seats")
        try session.press("Enter")
        try await session.wait { $0.contains("guest") && $0.hasSuffix("sql>") }
        try session.press("C-d")
        try await session.wait { $0.hasSuffix("status 0") }
    }

    @Test("Ctrl-C gives up what was typed, and ends a query, but not the prompt")
    func interrupts() async throws {
        let session = try session("storagekit sql", in: await SampleStore())
        try await session.wait { $0.hasSuffix("sql>") }
        try session.type("SELECT 'given up'")
        try await session.wait { $0.hasSuffix("given up'") }
        try session.press("C-c")
        try await session.wait { $0.hasSuffix("given up'^C\nsql>") }
        let endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT sum(x) FROM c;\n"
        try session.type(endless)
        func isInterrupted(_ screen: String) -> Bool { screen.contains("The query was interrupted.") }
        try await eventually {
            // Time to begin: the terminal drops a line that nobody has read when Ctrl-C comes. And time for the one before,
            // which would else give up what is typed next.
            try await Task.sleep(for: .milliseconds(100))
            if try isInterrupted(session.screen()) { return true }
            try session.press("C-c")
            let screen = try session.screen()
            if !isInterrupted(screen), screen.hasSuffix("sql>") { try session.type(endless) }
            return false
        }
        try await session.wait { $0.hasSuffix("sql>") }
        try session.type("SELECT 'still here' AS s;")
        try session.press("Enter")
        try await session.wait { $0.contains("\nstill here") && $0.hasSuffix("sql>") }
    }

    @Test("Tab completes tables, columns and keywords; the history outlives the prompt")
    func completionAndHistory() async throws {
        let sample = try await SampleStore()
        let session = try session("storagekit sql", in: sample)
        try await session.wait { $0.hasSuffix("sql>") }
        try session.type("sele")
        try session.press("Tab")
        try session.type("gue")
        try session.press("Tab")
        try session.type("FROM sea")
        try session.press("Tab")
        try session.type("LIMIT 1;")
        try session.press("Enter")
        try await session.wait {
            $0.contains("select guest FROM seats LIMIT 1;") && $0.contains("zoë") && $0.hasSuffix("sql>")
        }
        try session.type("SELECT s")
        try session.press("Tab")
        try await session.wait { $0.contains("score") && $0.contains("seats") && $0.hasSuffix("sql> SELECT s") }
        try session.press("C-u")
        try session.type("\\q")
        try session.press("Enter")
        try await session.wait { $0.hasSuffix("status 0") }
        let later = try self.session("storagekit sql", in: sample)
        try await later.wait { $0.hasSuffix("sql>") }
        try later.press("Up", "Up")
        try await later.wait { $0.hasSuffix("sql> select guest FROM seats LIMIT 1;") }
        let file = sample.folder.path("state/storagekit/sql_history")
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    /// In one line, the comment would reach to the end of the statement, and the string would be another.
    @Test("A statement of several lines is recalled as it was typed")
    func recalledLines() async throws {
        let sample = try await SampleStore()
        let session = try session("storagekit sql", in: sample)
        try await session.wait { $0.hasSuffix("sql>") }
        try session.type("SELECT 7 AS a, -- one\n'b\nc' AS d;\n")
        // What is typed while the result is printed is shown in its midst.
        try await session.wait { $0.contains("\n7  b␊c") && $0.hasSuffix("sql>") }
        try session.type("\\q\n")
        try await session.wait { $0.hasSuffix("status 0") }
        let later = try self.session("storagekit sql", in: sample)
        try await later.wait { $0.hasSuffix("sql>") }
        try later.press("Up", "Up")
        try await later.wait { $0.hasSuffix("sql> SELECT 7 AS a, -- one\n'b\nc' AS d;") }
        try later.press("Enter")
        try await later.wait { $0.contains("\n7  b␊c") && $0.hasSuffix("sql>") }
    }

    @Test("Ctrl-Z stops a prompt, which is drawn again when it is continued")
    func stopping() async throws {
        let sample = try await SampleStore()
        let shell = try await ShellSession(
            "bash", environment: ["STORAGEKIT_STORE": sample.path], in: try TemporaryFolder())
        try shell.run("storagekit sql")
        try await shell.session.wait { $0.hasSuffix("sql>") }
        try shell.session.type("SELECT 4")
        try await shell.session.wait { $0.hasSuffix("SELECT 4") }
        try shell.session.press("C-z")
        try await shell.session.wait { $0.contains("Stopped") && $0.hasSuffix("ready>") }
        // In the background it stops again, and draws nothing.
        try shell.run("clear; bg")
        try await shell.session.wait { $0.contains("&") && $0.hasSuffix("ready>") }
        try await eventually {
            try shell.run("jobs")
            return try shell.session.screen().contains("Stopped")
        }
        #expect(try !shell.session.screen().contains("sql>"))
        try shell.run("clear; fg")
        try await shell.session.wait { $0.hasSuffix("sql> SELECT 4") }
        try shell.session.type("2 AS n;\n")
        try await shell.session.wait { $0.contains("sql> SELECT 42 AS n;") && $0.hasSuffix("\n42\nsql>") }
    }

    @Test("Letters of any script are edited whole")
    func unicode() async throws {
        let session = try session("storagekit sql", in: await SampleStore())
        try await session.wait { $0.hasSuffix("sql>") }
        try session.type("SELECT 'zoëß日' AS s;")
        try session.press("Left", "Left", "Left", "Left", "Left", "Left", "Left", "BSpace", "BSpace", "End")
        try session.press("Enter")
        try await session.wait { $0.contains("SELECT 'zoë日") || $0.contains("\nzoë") }
        #expect(!(try session.screen().contains("\u{FFFD}")))
    }

    @Test("A replay has editing, completion and a history of its own")
    func replay() async throws {
        let session = try session("storagekit replay --step", in: await SampleStore())
        try await session.wait { $0.hasSuffix("@0>") }
        try session.type("N")
        try session.press("Enter")
        try await session.wait { $0.hasSuffix("t:2>") }
        // As in a debugger, an empty line repeats the last step.
        try session.press("Enter")
        try await session.wait { $0.hasSuffix("t:3>") }
        try session.type("s SELECT title FROM pos")
        try session.press("Tab", "Enter")
        try await session.wait { $0.contains("\nHello, world") && $0.hasSuffix("t:3>") }
        try session.type("g hea")
        try session.press("Tab", "Enter")
        try await session.wait { $0.contains("g head") && !$0.hasSuffix("t:3>") && $0.hasSuffix(">") }
        try session.press("Up", "Up")
        try await session.wait { $0.hasSuffix("> s SELECT title FROM posts") }
        try session.press("Enter")
        try await session.wait { $0.contains("again") && $0.hasSuffix(">") }
        try session.type("abc")
        // The terminal drops what nobody has read when Ctrl-C comes.
        try await session.wait { $0.hasSuffix("> abc") }
        try session.press("C-c")
        try await session.wait { $0.hasSuffix(">") && $0.contains("> abc^C\n") }
        try session.press("C-d")
        try await session.wait { $0.hasSuffix("status 0") }
    }

    #if os(Linux)  // Elsewhere there is no /dev/full.
        @Test("A question that can't be shown isn't a yes", arguments: ["/dev/full", "&-"])
        func unshownQuestion(errors: String) async throws {
            let sample = try await SampleStore()
            let session = try session("storagekit exec 'DELETE FROM users' 2>\(errors)", in: sample)
            try await session.wait { $0.hasSuffix("status 2") }
            let users = try ToolProcess.run(["sql", "SELECT name FROM users"], store: sample.path)
            #expect(users.output.contains("Anna B."), "\(users)")
        }
    #endif

    @Test("Without a terminal, sql reads one query, and a replay reads lines")
    func pipes() async throws {
        let store = try await SampleStore.shared.value.path
        let query = try ToolProcess.run(["sql"], store: store, input: "SELECT count(*) AS n FROM seats")
        #expect(query.output.hasPrefix("n\n"), "\(query)")
        let lines = try ToolProcess.run(["replay", "--step"], store: store, input: "N\nq\n")
        #expect(lines.status == 0)
        #expect(!lines.output.contains(">"))
    }
}
