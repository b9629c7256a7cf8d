import Foundation
import TestSupport
import Testing

@testable import StorageKitTool

/// Ctrl-C at the prompt of the shells that people use.
///
/// A shell ends a loop only if the command was ended by the signal: one that exits with status 130 by itself would be run again.
@Suite(.enabled(if: TerminalSession.isAvailable, "tmux isn't installed"))
struct InterruptTests {
    static let endless = "\"WITH RECURSIVE c(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM c) SELECT x FROM c\""

    private func shell(
        _ name: String, pager: String = "cat", temporary: String? = nil
    ) async throws -> ShellSession? {
        guard TerminalSession.isInstalled(name), pager == "cat" || TerminalSession.isInstalled(pager) else {
            print("skipped: \(name) or \(pager) isn't installed")
            return nil
        }
        let folder = try TemporaryFolder()
        try CompletionTests.store("store.sqlite", in: folder, table: "n", keys: ["k1"])
        var environment = ["STORAGEKIT_STORE": folder.path(), "STORAGEKIT_PAGER": pager]
        environment["TMPDIR"] = temporary
        return try await ShellSession(name, rows: 10, environment: environment, in: folder)
    }

    /// Types a loop of the command.
    private func loop(_ command: String, in name: String, _ shell: ShellSession) throws {
        try shell.run(
            name == "fish"
                ? "for i in 1 2; \(command); echo after $i; end" : "for i in 1 2; do \(command); echo after $i; done")
    }

    /// The prompt is back, the loop has ended, and the terminal shows what is typed.
    private func expectEnd(of name: String, _ shell: ShellSession) async throws {
        try await shell.session.wait { $0.hasSuffix("ready>") }
        let screen = try shell.session.screen()
        #expect(!screen.contains("after 1"))
        #expect(!screen.contains("after 2"))
        try shell.run("echo status \(name == "fish" ? "$status" : "$?")")
        try await shell.session.wait { $0.hasSuffix("status 130\nready>") }
        #expect(try shell.session.screen().contains("echo status $"), "What is typed is shown.")
    }

    @Test("Following ends, and the loop with it", arguments: ShellSession.names)
    func following(_ name: String) async throws {
        guard let shell = try await shell(name) else { return }
        try loop("storagekit tail --follow", in: name, shell)
        try await shell.session.wait { $0.contains("n/k1") }
        try shell.session.press("C-c")
        try await expectEnd(of: name, shell)
    }

    @Test("A query ends, and the loop with it", arguments: ShellSession.names)
    func query(_ name: String) async throws {
        guard let shell = try await shell(name) else { return }
        try loop("storagekit sql \(Self.endless)", in: name, shell)
        // Rows only: the line that was typed has left the screen.
        try await shell.session.wait { !$0.contains("storagekit") && $0.contains("00") }
        try shell.session.press("C-c")
        try await expectEnd(of: name, shell)
    }

    @Test("A pager stays until it is left, and the loop ends then", arguments: ShellSession.names)
    func pager(_ name: String) async throws {
        guard let shell = try await shell(name, pager: "less") else { return }
        try loop("storagekit sql \(Self.endless)", in: name, shell)
        try await shell.session.wait { $0.hasSuffix("\n:") }
        try shell.session.press("C-c")
        // The end is there only once the command has ended. less drops keys that come with the interrupt.
        try await eventually {
            try shell.session.press("G")
            return try shell.session.screen().hasSuffix("(END)")
        }
        try shell.session.press("q")
        try await expectEnd(of: name, shell)
    }

    @Test("Ctrl-C ends bisect, its command and the shell's loop, and leaves no folder", arguments: ShellSession.names)
    func bisection(_ name: String) async throws {
        let temporary = try TemporaryFolder()
        guard let shell = try await shell(name, temporary: temporary.url.path) else { return }
        try loop("storagekit bisect --database --run 'echo begun; sleep 600'", in: name, shell)
        try await shell.session.wait { $0.hasSuffix("begun") }
        func folders() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: temporary.url.path).filter { $0.contains("storagekit") }
        }
        #expect(try folders().count == 1)
        try shell.session.press("C-c")
        try await expectEnd(of: name, shell)
        #expect(try folders() == [])
    }
}

/// The temporary folders of a process that a signal ends.
struct PrivateFolderTests {
    @Test("No temporary folder is created once a signal ends the process")
    func folderAfterEnd() throws {
        let temporary = try TemporaryFolder()
        let end = ProcessEnd()
        let registry = PrivateFolder.Registry(of: end)
        let folders = ["one", "other", "later"].map { temporary.path($0) }
        #expect(try registry.create(folders[0]))
        #expect(try registry.create(folders[1]))
        registry.remove(folders[0])
        func left() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: temporary.url.path) }
        #expect(try left() == ["other"])
        end.begin()
        registry.discardAll()
        #expect(try !registry.create(folders[2]))
        #expect(try left() == [])
    }
}
