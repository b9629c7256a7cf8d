import Foundation
import TestSupport
import Testing

@testable import StorageKitTool

/// Long output on a terminal goes through a pager, as git has it.
@Suite(.enabled(if: TerminalSession.isAvailable, "tmux isn't installed"))
struct PagerTests {
    /// A store with more commits than a screen has lines.
    private func folder() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try CompletionTests.store(
            "store.sqlite", in: folder, table: "n", keys: (1...200).map { "k\($0)" })
        return folder
    }

    private func session(
        _ command: String, _ environment: [String: String] = [:], in folder: TemporaryFolder
    ) throws -> TerminalSession {
        let command = "trap : INT; \(command); echo \"status $?\"; exec sleep 1000"
        return try TerminalSession(
            command, rows: 10, environment: environment.merging(["STORAGEKIT_STORE": folder.path()]) { $1 }, in: folder)
    }

    @Test(
        "less shows what is longer than the screen, and its end ends the command",
        .enabled(if: TerminalSession.isInstalled("less"), "less isn't installed"))
    func longOutput() async throws {
        let session = try session("storagekit log --oneline", in: folder())
        try await session.wait { $0.hasPrefix("t:200  ") && $0.hasSuffix("\n:") }
        try session.press("q")
        try await session.wait { $0.hasSuffix("status 0") }
    }

    @Test(
        "What fits on the screen stays there, with the status of the command",
        .enabled(if: TerminalSession.isInstalled("less"), "less isn't installed"))
    func shortOutput() async throws {
        let folder = try folder()
        let found = try session("storagekit log --oneline -2", in: folder)
        try await found.wait { $0.hasPrefix("t:200  ") && $0.hasSuffix("status 0") }
        let nothing = try session("storagekit log --actor nobody", in: folder)
        try await nothing.wait { $0.contains("No commit matches.") && $0.hasSuffix("status 1") }
    }

    @Test("The pager is the one that is named, and gets the colours of the terminal")
    func namedPager() async throws {
        let folder = try folder()
        let pager = "sed -e 's/\\x1b.1m/<b>/' -e \"s/^/[$LESS] /\""
        for variable in ["STORAGEKIT_PAGER", "PAGER"] {
            let session = try session("storagekit log --oneline -1", [variable: pager], in: folder)
            try await session.wait { $0.contains("[FRX] <b>t:200") && $0.hasSuffix("status 0") }
        }
        let both = try session(
            "storagekit log --oneline -1", ["STORAGEKIT_PAGER": "sed s/^/own/", "PAGER": "sed s/^/other/"], in: folder)
        try await both.wait { $0.contains("own") && $0.hasSuffix("status 0") }
    }

    @Test(
        "There is no pager where none is wanted, or it isn't installed",
        arguments: [
            ("storagekit log --oneline -1 --no-pager", "sed s/^/paged/"),
            ("storagekit --no-pager log --oneline -1", "sed s/^/paged/"),
            ("storagekit log -1 --format jsonl", "sed s/^/paged/"),
            ("storagekit log --oneline -1 | cat", "sed s/^/paged/"),
            ("storagekit tail -n 1", "sed s/^/paged/"), ("storagekit log --oneline -1", ""),
            ("storagekit log --oneline -1", "cat"), ("storagekit log --oneline -1", "no-such-pager -R"),
            ("storagekit log --oneline -1", "/no/such/pager"),
        ])
    func noPager(_ command: String, _ pager: String) async throws {
        let session = try session(command, ["STORAGEKIT_PAGER": pager], in: folder())
        try await session.wait { $0.contains("k200") || $0.contains("t:200") || $0.contains("\"commit\":200") }
        try await session.wait { $0.hasSuffix("status 0") }
        #expect(!(try session.screen().contains("paged")))
    }

    @Test("Help is paged, an error alone isn't")
    func helpAndErrors() async throws {
        let folder = try folder()
        let pager = ["PAGER": "sed s/^/paged/"]
        let help = try session("storagekit help grep | tail -1; storagekit grep --help", pager, in: folder)
        try await help.wait { $0.contains("paged") && $0.hasSuffix("status 0") }
        let error = try session("storagekit log nothing", pager, in: folder)
        try await error.wait { $0.contains("There is no table") && $0.hasSuffix("status 3") }
        #expect(!(try error.screen().contains("paged")))
    }

    @Test("A pager that ends early ends the command quietly")
    func earlyEnd() async throws {
        let session = try session("storagekit log", ["PAGER": "head -n 1"], in: folder())
        try await session.wait { $0.hasSuffix("status 0") }
        #expect(try session.screen().split(separator: "\n").count == 2)
    }

    @Test("A pager that ends early leaves the command's status")
    func statusAfterEarlyEnd() async throws {
        let session = try session("storagekit diff @0 --exit-code", ["PAGER": "head -n 1"], in: folder())
        try await session.wait { $0.hasSuffix("status 1") }
    }

    @Test(
        "Ctrl-C ends the command, and the pager keeps what there is until it is left",
        .enabled(if: TerminalSession.isInstalled("less"), "less isn't installed"))
    func interrupt() async throws {
        let session = try session(
            "storagekit sql \"WITH RECURSIVE c(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM c) SELECT x FROM c\"",
            in: folder())
        try await session.wait { $0.hasSuffix("\n:") }
        try session.press("C-c")
        // The end is there only once the command has ended. less drops keys that come with the interrupt.
        try await eventually {
            try session.press("G")
            return try session.screen().hasSuffix("(END)")
        }
        try session.press("q")
        try await session.wait { $0.hasSuffix("status 130") }
    }
}
