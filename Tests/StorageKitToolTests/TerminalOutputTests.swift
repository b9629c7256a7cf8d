import Foundation
import TestSupport
import Testing

@testable import StorageKitTool

/// What the commands look like on a terminal of 80 columns, in colour and without.
@Suite struct TerminalOutputTests {
    typealias Case = GoldenOutputTests.Case

    /// Each command as it is used most; what only reads, or only shows what it would do.
    static let cases: [Case] = [
        Case("terminal-overview"), Case("terminal-log", "log"), Case("terminal-log-patch", "log", "-p"),
        Case("terminal-log-oneline", "log", "--oneline"), Case("terminal-show", "show", "t:3"),
        Case("terminal-history", "history", "posts/a/1"), Case("terminal-diff", "diff", "t:2"),
        Case("terminal-diff-stat", "diff", "t:2", "--stat"), Case("terminal-blame", "blame", "posts/a/1"),
        Case("terminal-blame-table", "blame", "posts"), Case("terminal-grep", "grep", "e"),
        Case("terminal-bisect", "bisect", "SELECT count(*) > 1 FROM posts"),
        Case("terminal-at", "at", "t:3", "SELECT * FROM posts"),
        Case("terminal-sql", "sql", "SELECT id, _op, _changed, new_title FROM changes_posts"),
        Case("terminal-explain", "explain", "SELECT title FROM history_posts WHERE id = 'b'"),
        Case("terminal-sql-expanded", "sql", "-x", "SELECT * FROM posts"),
        Case("terminal-history-expanded", "history", "posts/a/1", "-x"),
        Case("terminal-tail", "tail"), Case("terminal-stats", "stats"), Case("terminal-verify", "verify"),
        Case("terminal-doctor", "doctor"), Case("terminal-guard", "guard", "status"), Case("terminal-schema", "schema"),
        Case("terminal-schema-log", "schema", "log"),
        Case("terminal-schema-diff", "schema", "diff", "t:1"), Case("terminal-tag", "tag"),
        Case("terminal-note", "note"),
        Case("terminal-replay", "replay"),
        Case("terminal-rebuild-dry-run", "rebuild", "--dry-run"), Case("terminal-undo-dry-run", "undo", "--dry-run"),
        Case("terminal-revert-dry-run", "revert", "t:4", "--dry-run"),
        Case("terminal-restore-state-dry-run", "restore-state", "t:3", "--dry-run"),
        Case("terminal-tag-dry-run", "tag", "shown", "t:3", "--dry-run"),
        Case("terminal-unknown-table", "log", "post"),
        Case("terminal-watch", "watch", "posts", "--order", "id", "--for", "0"),
        Case("terminal-watch-group", "watch", "posts", "--group", "draft", "--for", "0"),
    ]

    /// Each command that writes, as it is used most.
    static let writingCases: [Case] = [
        Case("terminal-undo", "undo", "--yes"), Case("terminal-redo-nothing", "redo"),
        Case("terminal-undo-asks", input: "n\n", "undo"),
        Case("terminal-record", "record", "--yes"),
        Case("terminal-exec", "exec", "UPDATE users SET name = 'Anna C.'", "--yes"),
        Case("terminal-exec-asks", input: "n\n", "exec", "UPDATE users SET name = 'Anna C.'"),
        Case("terminal-revert", input: "y\n", "revert", "t:4", "--reason", "it was wrong"),
        Case("terminal-revert-conflict", "revert", "t:2", "--yes"),
        Case("terminal-restore-state", "restore-state", "t:3", "posts", "--yes"),
        Case("terminal-rebuild", "rebuild", "posts"), Case("terminal-rebuild-compare", "rebuild", "--compare"),
        Case("terminal-tag-make", "tag", "shown", "t:3", "--note", "as it was shown"),
        Case("terminal-note-make", "note", "t:3", "looked at"), Case("terminal-doctor-fix", "doctor", "--fix"),
    ]

    @Test("Writing commands", arguments: writingCases)
    func writingOutput(_ golden: Case) async throws {
        let samples = [try await SampleStore(), try await SampleStore()]
        try Self.expectLooks(golden, in: samples.map(\.folder))
    }

    @Test("What was undone is redone as it was done")
    func redoOutput() async throws {
        let samples = [try await SampleStore(), try await SampleStore()]
        for sample in samples { #expect(try ToolProcess.run(["undo", "--yes"], store: sample.path).status == 0) }
        try Self.expectLooks(Case("terminal-redo", "redo", "--yes"), in: samples.map(\.folder))
    }

    /// Commands about other files than the store, with names that are short enough not to be cut.
    @Test("Commands about other files")
    func outputAboutOtherFiles() async throws {
        let samples = [try await SampleStore(), try await SampleStore()]
        for sample in samples { try prepare(sample) }
        for golden in [
            Case("terminal-adopt-dry-run", "adopt", "chinook.sqlite", "-s", "new.sqlite", "--dry-run"),
            Case("terminal-backup", "backup", "backup.sqlite"),
            Case("terminal-restore-dry-run", "restore", "backup.sqlite", "--to", "t:3", "-o", "r.sqlite", "--dry-run"),
            Case("terminal-restore", "restore", "backup.sqlite", "--to", "t:3", "-o", "r.sqlite"),
            Case("terminal-import-dry-run", "import", "history.jsonl", "-s", "imported.sqlite", "--dry-run"),
            Case("terminal-import", "import", "history.jsonl", "-s", "imported.sqlite"),
            Case("terminal-adopt", "adopt", "chinook.sqlite", "-s", "new.sqlite"),
            Case("terminal-compare-replay", "compare-replay", "--old", "old.sql", "--new", "new.sql"),
        ] {
            try Self.expectLooks(golden, in: samples.map(\.folder))
        }
    }

    private func prepare(_ sample: SampleStore) throws {
        try ChinookDatabase.make(at: sample.folder.path("chinook.sqlite"))
        for (name, value) in [("old.sql", 1), ("new.sql", 2)] {
            let rules =
                "CREATE TABLE t(id TEXT, n INTEGER);\n-- on insert of posts\nINSERT INTO t VALUES (:new_id, \(value));"
            try Data(rules.utf8).write(to: sample.folder.url.appendingPathComponent(name))
        }
        let history = """
            {"tx":1,"at":"2024-05-01T10:00:00Z","actor":"anna","op":"insert","table":"posts","id":"1","row":{"title":"Hello"}}
            {"tx":2,"at":"2024-05-01T11:00:00Z","op":"update","table":"posts","id":"1","row":{"title":7,"tags":["a"]}}
            """
        try Data(history.utf8).write(to: sample.folder.url.appendingPathComponent("history.jsonl"))
    }

    /// Files for other programs are whole on a terminal too, and nothing in them is coloured or cut.
    @Test(
        "Files for programs are the same on a terminal",
        arguments: [["export"], ["completions", "bash"], ["completions", "zsh"], ["completions", "fish"]])
    func filesForProgramsOnTerminal(arguments: [String]) async throws {
        let store = try await SampleStore.shared.value.path
        let onTerminal = try ToolProcess.onTerminal(arguments, store: store)
        let inPipe = try ToolProcess.run(arguments, store: store)
        #expect(inPipe.status == 0)
        #expect(!inPipe.output.isEmpty)
        #expect(onTerminal.output == inPipe.output)
        #expect(onTerminal.status == 0)
    }

    @Test("On a narrow terminal, positions make room for what changed")
    func narrowLog() async throws {
        let store = try await SampleStore.shared.value.path
        let narrow = try ToolProcess.onTerminal(
            ["log", "--oneline"], store: store, columns: 64, noColor: true, zone: "UTC")
        let line = narrow.output.split(separator: "\n").first { $0.hasPrefix("t:2 ") }
        #expect(line?.contains("posts +2, users +1") == true, "\(narrow.output)")
        #expect(line?.contains("@15") == false, "\(narrow.output)")
        #expect(narrow.output.contains("@24"), "\(narrow.output)")
    }

    @Test("Reading commands", arguments: cases)
    func readingOutput(_ golden: Case) async throws {
        // Even a dry run is the one that may write.
        let isAlone = golden.arguments.contains("--dry-run")
        let sample = try await isAlone ? SampleStore() : SampleStore.shared.value
        try Self.expectLooks(golden, in: [sample.folder])
    }

    /// - Parameter folders: With a store; two alike where the command changes it: one to be shown in colours, one without.
    static func expectLooks(_ golden: Case, in folders: [TemporaryFolder]) throws {
        func look(_ folder: TemporaryFolder, noColor: Bool) throws -> ToolProcess.Outcome {
            try ToolProcess.onTerminal(
                golden.arguments, store: folder.path(), in: folder.url, noColor: noColor, answer: golden.input)
        }
        let colored = try look(folders[0], noColor: false)
        try GoldenOutputTests.compare(golden, colored, store: folders[0].path())
        let plain = try look(folders[folders.count - 1], noColor: true)
        #expect(plain.status == colored.status)
        let text = plain.output.replacing(WatchPrinter.Screen.clear, with: "")
        #expect(!text.contains("\u{1b}"), "NO_COLOR is set")
        let times = #"\d+ (µs|ms|s)\b"#
        func timeless(_ text: String) -> String {
            text.replacingOccurrences(of: times, with: "T", options: .regularExpression)
        }
        let stripped = colored.output.replacingOccurrences(
            of: "\u{1b}\\[[0-9;]*m", with: "", options: .regularExpression)
        #expect(timeless(stripped) == timeless(plain.output), "colours are all that NO_COLOR takes away")
        for line in plain.output.split(separator: "\n") {
            #expect(DisplayWidth.of(String(line)) <= 80, "\(line)")
        }
    }

    /// The commands whose output has a format for programs.
    private static var formattedCases: [Case] {
        GoldenOutputTests.readingCases.filter { $0.arguments.contains("--format") }
    }

    /// Formats for programs are the same wherever they go, and so is how a command ends.
    @Test("Formats for programs don't depend on the terminal", arguments: formattedCases)
    func formatsForProgramsOnTerminal(_ golden: Case) async throws {
        let store = try await SampleStore.shared.value.path
        let onTerminal = try ToolProcess.onTerminal(golden.arguments, store: store, noColor: true)
        let inPipe = try ToolProcess.run(golden.arguments, store: store)
        #expect(onTerminal.status == inPipe.status)
        if let format = golden.arguments.firstIndex(of: "--format"), format + 1 < golden.arguments.count,
            ["json", "jsonl", "csv", "md"].contains(golden.arguments[format + 1]), golden.arguments[0] != "stats"
        {
            let microseconds = #""microseconds":\d+"#
            func timeless(_ text: String) -> String {
                text.replacingOccurrences(of: microseconds, with: "", options: .regularExpression)
            }
            #expect(timeless(onTerminal.output) == timeless(inPipe.output))
        }
    }
}
